/**
 * Whether the CP session of a client goes on, which its interface does not show.
 *
 * The client has one session for all its locks of a group, and silently starts another one when
 * that has ended. So this store holds a lock of its own, the probe, whose name no other knows.
 * Trying it again, which fails, is a heartbeat of the session, as each request of a lock is; if the
 * probe is then still locked, the session that took it was alive when the store asked. If the try
 * succeeds, the session had ended with all its locks, and a new epoch begins.
 * What would break it: a server that ends a session but not its locks, or a `ttlMs` longer than the
 * cluster's `session-time-to-live-seconds`.
 */
import type { Clock } from '../../base/clock.ts';
import { randomId } from '../../base/random-id.ts';
import { singleFlight } from '../../base/single-flight.ts';
import type { StoreError } from '../../contract/errors.ts';
import type { FencedLock, HazelcastFence } from './client.ts';
import type { WithProxy } from './proxies.ts';

export interface CpSessionParts {
  readonly withLock: WithProxy<FencedLock>;
  /** That of a session. */
  readonly ttlMs: number;
  readonly clock: Clock;
}

export class CpSession {
  readonly #parts: CpSessionParts;
  #name = probeName();
  #fence: HazelcastFence | undefined;
  #epoch = 0;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** The epoch of the session that is alive now, after a heartbeat. */
  readonly prove: () => Promise<number> = singleFlight(() => this.#prove());

  constructor(parts: CpSessionParts) {
    this.#parts = parts;
  }

  /** Counts the sessions: what was locked in an earlier one is lost. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Until then it lasts, at least; on the clock of the store. */
  get aliveUntil(): number {
    return this.aliveFrom(this.#seenAt);
  }

  /** How long it lasts after a request in it that was sent then. */
  aliveFrom(sentAt: number): number {
    return sentAt + this.#parts.ttlMs;
  }

  /** Before each request for a lock: without the probe, the next heartbeat would begin an epoch. */
  async begin(): Promise<void> {
    if (this.#fence === undefined) await this.prove();
  }

  /** Gives the probe back. Never rejects. */
  async end(): Promise<void> {
    if (this.#fence === undefined) return;
    const fence = this.#fence;
    await this.#parts.withLock(this.#name, (probe) => probe.unlock(fence)).catch(() => {});
  }

  async #prove(): Promise<number> {
    try {
      await this.#parts.withLock(this.#name, (probe) => this.#try(probe));
      return this.#epoch;
    } catch (error) {
      // It may have been taken anew, in another session, without a reply that would say so.
      if ((error as StoreError).outcome === 'unknown') {
        this.#name = probeName();
        this.#fence = undefined;
        this.#epoch++;
      }
      throw error;
    }
  }

  async #try(probe: FencedLock): Promise<void> {
    for (;;) {
      const sentAt = this.#parts.clock.now();
      const fence = await probe.tryLock(0);
      if (fence !== undefined) {
        this.#fence = fence;
        this.#epoch++;
      } else if (!(await probe.isLocked())) continue;
      this.#seenAt = sentAt;
      return;
    }
  }
}

function probeName(): string {
  return `holdfast/session/${randomId()}`;
}
