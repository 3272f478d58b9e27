/**
 * Keep-alives of leases, all over one stream, on which the server replies in their order.
 *
 * Each has its own time-out. One without a reply when its stream ends is sent again over the next:
 * keeping a lease alive twice does no harm, and a dead one stays dead. The life that a reply gives
 * counts from the first request, so it is never overestimated.
 *
 * The leader alone keeps leases alive, without asking others. A leader that stood still does so
 * even after another was elected, under which the lease ends earlier. So a reply counts only once
 * a later read, agreed by a majority, was answered in the same term.
 * The term in a reply is that of the last entry that its server has applied, and a leader that
 * serves a read has applied one of its own: so the server of both was the leader before and after
 * the lease was kept alive, and there was no other in between. One read confirms all replies that
 * came before it. What would break it: a read that any server answers by itself.
 */
import { afterInput } from '../../base/event-loop.ts';
import { closed } from '../wire.ts';
import { type Calls, DEADLINE_MS } from './calls.ts';
import { isLeaderless, isTokenOld, NoAnswer, storeError } from './errors.ts';
import { LastingStream } from './lasting-stream.ts';
import type { RpcStream } from './rpc-stream.ts';
import { idRequest, readLease } from './wire/messages.ts';
import { encode } from './wire/protobuf.ts';
import { MalformedError } from './wire/wire-format.ts';

interface KeepAliveWaiter {
  readonly lease: bigint;
  sent: boolean;
  over: boolean;
  readonly answered: (seconds: bigint) => void;
  readonly failed: (error: unknown) => void;
}

interface Unconfirmed {
  readonly waiter: KeepAliveWaiter;
  readonly seconds: bigint;
  readonly term: bigint;
}

export class KeepAlives {
  readonly #stream: LastingStream;
  /** In the order of the replies. */
  #waiting: KeepAliveWaiter[] = [];
  #unconfirmed: Unconfirmed[] = [];
  #confirming = false;
  #closed = false;
  readonly #readTerm: () => Promise<bigint>;

  /** @param readTerm reads it with the agreement of a majority. */
  constructor(calls: Calls, readTerm: () => Promise<bigint>) {
    this.#readTerm = readTerm;
    this.#stream = new LastingStream(calls, {
      path: '/etcdserverpb.Lease/LeaseKeepAlive',
      wanted: () => this.#waiting.length > 0,
      opened: (stream) => {
        for (const waiter of this.#waiting) send(stream, waiter);
      },
      message: (bytes) => this.#answered(bytes),
      ended: (error, wasOpen) => {
        const another = error instanceof NoAnswer || isLeaderless(error) || isTokenOld(error);
        if (!wasOpen || !another) this.#failAll(error);
      },
    });
  }

  /** The seconds of its new life; 0: it is dead. Rejects with a StoreError. */
  async keepAlive(lease: bigint): Promise<bigint> {
    if (this.#closed) throw closed('etcd');
    let waiter!: KeepAliveWaiter;
    const answer = new Promise<bigint>((answered, failed) => {
      waiter = { lease, sent: false, over: false, answered, failed };
    });
    const timer = setTimeout(() => afterInput(() => this.#late(waiter)), DEADLINE_MS);
    try {
      this.#ask(waiter);
      return await answer;
    } catch (error) {
      throw storeError(error);
    } finally {
      clearTimeout(timer);
      waiter.over = true;
    }
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
    this.#failAll(closed('etcd'));
  }

  #ask(waiter: KeepAliveWaiter): void {
    this.#waiting.push(waiter);
    const { current } = this.#stream;
    if (current) send(current, waiter);
    else this.#stream.open();
  }

  #late(waiter: KeepAliveWaiter): void {
    if (waiter.over) return;
    waiter.failed(new NoAnswer(waiter.sent, `no answer within ${DEADLINE_MS} ms`));
    if (!this.#waiting.includes(waiter)) return;
    this.#waiting = this.#waiting.filter((other) => other !== waiter);
    // Its reply would be taken for another's.
    this.#stream.restart('a lease was not kept alive in time');
  }

  #answered(bytes: Buffer): void {
    const { id, ttl: seconds, header } = readLease(bytes);
    const [waiter] = this.#waiting;
    if (waiter?.lease !== id) throw new MalformedError('an answer is about another lease');
    this.#waiting.shift();
    if (this.#waiting.length === 0) this.#stream.current?.expect(false);
    // Death needs no confirmation: no claim relies on it.
    if (seconds <= 0n) return waiter.answered(0n);
    this.#unconfirmed.push({ waiter, seconds, term: header.term });
    if (!this.#confirming) void this.#confirm();
  }

  async #confirm(): Promise<void> {
    this.#confirming = true;
    while (this.#unconfirmed.length > 0) {
      const answered = this.#unconfirmed;
      this.#unconfirmed = [];
      const term = await this.#readTerm().catch((error: unknown) => {
        for (const { waiter } of answered) waiter.failed(error);
      });
      for (const { waiter, seconds, term: then } of answered) {
        if (term === undefined || waiter.over) continue;
        if (then === term) waiter.answered(seconds);
        else this.#ask(waiter);
      }
    }
    this.#confirming = false;
  }

  #failAll(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { failed } of waiting) failed(error);
  }
}

function send(stream: RpcStream, waiter: KeepAliveWaiter): void {
  waiter.sent = true;
  stream.expect(true);
  stream.write(encode(idRequest, { id: waiter.lease }));
}
