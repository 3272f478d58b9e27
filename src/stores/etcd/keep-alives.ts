/**
 * Keep-alives of leases, all over one stream, on which the server answers them in their order.
 *
 * Each has a time of its own. One that has no answer when its stream ends is sent again over the
 * next: keeping a lease alive twice does no harm, and one that is dead stays dead. As the life that
 * an answer gives is counted from the first time it was asked for, it is never thought too long.
 *
 * Leases are kept alive by the leader alone, which asks nobody: one that has stood still still does
 * so when another has long been elected, with whom the lease ends earlier. Therefore an answer
 * counts only when a read after it, to which a majority has agreed, was answered in the same term.
 * The term in an answer is that of the last entry that its server has applied, and a leader that
 * serves a read has applied one of its own: so whoever served it was the leader before and after
 * the lease was kept alive, and there was no other in between. One read confirms all answers that
 * came before it. What would break it: a read that any server answers by itself.
 */
import { afterInput } from '../../base/event-loop.ts';
import { type Calls, DEADLINE_MS } from './calls.ts';
import { closedError, isLeaderless, isTokenOld, NoAnswer, storeError } from './errors.ts';
import { LastingStream } from './lasting-stream.ts';
import { leaseRequest, readLease } from './messages.ts';
import { encode } from './protobuf.ts';
import type { RpcStream } from './rpc-stream.ts';
import { MalformedError } from './wire-format.ts';

/** What the term is, read with the agreement of a majority. */
export type ReadTerm = () => Promise<bigint>;

interface Waiter {
  readonly lease: bigint;
  sent: boolean;
  over: boolean;
  readonly answered: (seconds: bigint) => void;
  readonly failed: (error: unknown) => void;
}

interface Answered {
  readonly waiter: Waiter;
  readonly seconds: bigint;
  readonly term: bigint;
}

export class KeepAlives {
  readonly #stream: LastingStream;
  /** In the order in which they are answered. */
  #waiting: Waiter[] = [];
  #unconfirmed: Answered[] = [];
  #confirming = false;
  #closed = false;
  readonly #readTerm: ReadTerm;

  constructor(calls: Calls, readTerm: ReadTerm) {
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

  /** The seconds that it has again; 0: it is dead. Rejects with a StoreError. */
  keepAlive(lease: bigint): Promise<bigint> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const late = (): void => this.#late(waiter);
      const timer = setTimeout(() => afterInput(late), DEADLINE_MS);
      const end = (): void => {
        clearTimeout(timer);
        waiter.over = true;
      };
      const waiter: Waiter = {
        lease,
        sent: false,
        over: false,
        answered: (seconds) => {
          end();
          resolve(seconds);
        },
        failed: (error) => {
          end();
          reject(storeError(error));
        },
      };
      this.#ask(waiter);
    });
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
    this.#failAll(closedError());
  }

  #ask(waiter: Waiter): void {
    this.#waiting.push(waiter);
    const { current } = this.#stream;
    if (current) send(current, waiter);
    else this.#stream.open();
  }

  #late(waiter: Waiter): void {
    if (waiter.over) return;
    waiter.failed(new NoAnswer(waiter.sent, `no answer within ${DEADLINE_MS} ms`));
    if (!this.#waiting.includes(waiter)) return;
    this.#waiting = this.#waiting.filter((other) => other !== waiter);
    // Its answer would be taken for that of another.
    this.#stream.restart('a lease was not kept alive in time');
  }

  #answered(bytes: Buffer): void {
    const { id, ttl: seconds, term } = readLease(bytes);
    const [waiter] = this.#waiting;
    if (waiter?.lease !== id) throw new MalformedError('an answer is about another lease');
    this.#waiting.shift();
    if (this.#waiting.length === 0) this.#stream.current?.expect(false);
    // That it is dead needs no confirmation: nobody relies on its life.
    if (seconds <= 0n) return waiter.answered(0n);
    this.#unconfirmed.push({ waiter, seconds, term });
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
        if (waiter.over) continue;
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

function send(stream: RpcStream, waiter: Waiter): void {
  waiter.sent = true;
  stream.expect(true);
  stream.write(encode(leaseRequest, { id: waiter.lease }));
}
