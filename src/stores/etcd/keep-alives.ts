/**
 * Keep-alives of leases, all over one stream, on which the server answers them in their order.
 *
 * Each has a time of its own. One that has no answer when its stream ends is sent again over the
 * next: keeping a lease alive twice does no harm, and one that is dead stays dead. As the life that
 * an answer gives is counted from the first time it was asked for, it is never thought too long.
 */
import { type Calls, DEADLINE_MS } from './calls.ts';
import { closedError, isLeaderless, isTokenOld, NoAnswer, storeError } from './errors.ts';
import { LastingStream } from './lasting-stream.ts';
import { leaseRequest, readLease } from './messages.ts';
import { encode } from './protobuf.ts';
import type { RpcStream } from './rpc-stream.ts';
import { MalformedError } from './wire-format.ts';

interface Waiter {
  readonly lease: bigint;
  sent: boolean;
  readonly answered: (seconds: bigint) => void;
  readonly failed: (error: unknown) => void;
}

export class KeepAlives {
  readonly #stream: LastingStream;
  /** In the order in which they are answered. */
  #waiting: Waiter[] = [];
  #closed = false;

  constructor(calls: Calls) {
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
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        waiter.failed(new NoAnswer(waiter.sent, `no answer within ${DEADLINE_MS} ms`));
        // The answers would be taken for those of others.
        this.#stream.restart('a lease was not kept alive in time');
      }, DEADLINE_MS);
      const waiter: Waiter = {
        ...{ lease, sent: false },
        answered: (seconds) => {
          clearTimeout(timer);
          resolve(seconds);
        },
        failed: (error) => {
          clearTimeout(timer);
          reject(storeError(error));
        },
      };
      this.#waiting.push(waiter);
      const { current } = this.#stream;
      if (current) send(current, waiter);
      else this.#stream.open();
    });
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
    this.#failAll(closedError());
  }

  #answered(bytes: Buffer): void {
    const { id, ttl } = readLease(bytes);
    const [first] = this.#waiting;
    if (first?.lease !== id) throw new MalformedError('an answer is about another lease');
    this.#waiting.shift();
    if (this.#waiting.length === 0) this.#stream.current?.expect(false);
    first.answered(ttl);
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
