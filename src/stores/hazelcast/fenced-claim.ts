/**
 * One claim of a `FencedLock`: a request to lock, its result, and its end.
 *
 * Its state changes in one direction: it asks, then holds, then is over; or it is over before it
 * held, and gives back the lock if it still gets it. It is remembered for one TTL after its end, so
 * that a late copy finds it over.
 */
import { OneTimer } from '../../base/clock.ts';
import type { Claim, ClaimStatus, GoneReason, Member } from '../../contract/store.ts';
import type { HazelcastFence } from './client.ts';
import type { CpSession, CpSessionParts } from './cp-session.ts';

export interface FencedClaimParts extends Omit<CpSessionParts, 'ttlMs'> {
  readonly name: string;
  readonly session: CpSession;
  /** It waited, and holds now. */
  readonly granted: () => void;
  /** Its time in memory is over. */
  readonly forgotten: () => void;
}

interface FencedHold {
  readonly fence: HazelcastFence;
  readonly epoch: number;
  /** Its session lasts until then, at least. */
  readonly aliveUntil: number;
}

const OVER = ['LockOwnershipLostError', 'IllegalMonitorStateError'];

/** How long one request waits in the members, in ms: one that was given up is then gone. */
const WAIT_MS = 300_000;

export class FencedClaim {
  readonly claim: Claim;
  /** Resolves when it holds, or is known to wait. */
  asked: Promise<void> = Promise.resolve();
  readonly #parts: FencedClaimParts;
  readonly #timer: OneTimer;
  #expiresAt = 0;
  #hold: FencedHold | undefined;
  #over: GoneReason | undefined;
  /** How many wait, as far as the members show: where this one had to, others may. */
  #crowd: 0 | 1 = 0;
  #error: unknown;

  constructor(claim: Claim, parts: FencedClaimParts) {
    this.claim = claim;
    this.#parts = parts;
    this.#timer = new OneTimer(parts.clock);
  }

  get holds(): boolean {
    return this.#hold !== undefined;
  }

  /** @throws what the request threw, once: the next claim asks anew. */
  status(): ClaimStatus {
    if (this.#error !== undefined) {
      this.#timer.clear();
      this.#parts.forgotten();
      throw this.#error;
    }
    if (this.#over !== undefined) return { state: 'gone', why: this.#over };
    const leftMs = this.#leftMs;
    if (this.#hold) {
      const token = BigInt(`${this.#hold.fence}`);
      return { state: 'held', token, leftMs, waiters: this.#crowd };
    }
    return { state: 'waiting', why: 'queue', leftMs, retryInMs: this.claim.ttlMs / 3 };
  }

  get member(): Member {
    const { kind, permits, ttlMs, holder } = this.claim;
    const number = BigInt(`${this.#hold?.fence ?? 0}`);
    return { number, kind, permits, ttlMs, leftMs: this.#leftMs, holder };
  }

  /** Core asks again for a claim that waits, where a store has no queue: that is its heartbeat. */
  again(): void {
    if (!this.#hold && this.#over === undefined) this.#live();
  }

  /** Tries once; if another holds, a second request waits in the members. */
  ask(): void {
    this.#live();
    const failed = (error: unknown): void => {
      this.#error = error;
    };
    this.asked = this.#ask(0).then((granted) => {
      if (granted || this.#over !== undefined) return;
      if (!this.claim.queue) return this.#end('refused');
      this.#crowd = 1;
      void this.#wait().catch(failed);
    }, failed);
  }

  /** A heartbeat, after the session of that epoch was seen alive. */
  renew(epoch: number): ClaimStatus {
    if (this.#hold && this.#hold.epoch !== epoch) {
      this.#giveBack(this.#hold.fence);
      this.#end('session');
    }
    if (this.#over === undefined) this.#live();
    this.#crowd = 1;
    if (this.#hold) this.#hold = { ...this.#hold, aliveUntil: this.#parts.session.aliveUntil };
    return this.status();
  }

  /** True if it was not over. @throws StoreError if the lock may not have been given back. */
  async release(afterMs = 0): Promise<boolean> {
    if (this.#over !== undefined) return false;
    if (afterMs > 0 && this.#hold) {
      this.#over = 'unknown';
      this.#live(afterMs);
      return true;
    }
    const hold = this.#hold;
    const was = hold !== undefined || this.#expiresAt > 0;
    if (hold) await this.#unlock(hold.fence);
    this.#end('unknown');
    return was;
  }

  get #leftMs(): number {
    const until = Math.min(this.#expiresAt, this.#hold?.aliveUntil ?? this.#expiresAt);
    return Math.max(0, until - this.#parts.clock.now());
  }

  /** Never ends before the claim does. */
  async #wait(): Promise<void> {
    while (this.#over === undefined) {
      if (await this.#ask(WAIT_MS)) return this.#parts.granted();
    }
  }

  /** True if it holds. A grant that took long needs a proof that its session goes on. */
  async #ask(waitMs: number): Promise<boolean> {
    const { session, clock, withLock, name } = this.#parts;
    await session.begin();
    const { epoch } = session;
    const sentAt = clock.now();
    const fence = await withLock(name, (lock) => lock.tryLock(waitMs));
    if (fence === undefined) return false;
    try {
      let aliveUntil = session.aliveFrom(sentAt);
      let goesOn = true;
      if (clock.now() > (sentAt + aliveUntil) / 2) {
        goesOn = (await session.prove()) === epoch;
        aliveUntil = session.aliveUntil;
      }
      if (goesOn && this.#over === undefined) this.#hold = { fence, epoch, aliveUntil };
    } finally {
      if (!this.#hold) this.#giveBack(fence);
    }
    return this.#hold !== undefined;
  }

  #live(ms: number = this.claim.ttlMs): void {
    this.#expiresAt = this.#parts.clock.now() + ms;
    const expire = (): void => {
      if (this.#hold) this.#giveBack(this.#hold.fence);
      this.#end('expired');
    };
    this.#timer.set(expire, ms);
    this.#timer.unref();
  }

  #end(why: GoneReason): void {
    this.#over = why;
    this.#hold = undefined;
    this.#timer.set(this.#parts.forgotten, this.claim.ttlMs);
    this.#timer.unref();
  }

  /** Never rejects: what cannot be given back ends with the session. */
  #giveBack(fence: HazelcastFence): void {
    this.#unlock(fence).catch(() => {});
  }

  async #unlock(fence: HazelcastFence): Promise<void> {
    const { withLock, name } = this.#parts;
    await withLock(name, (lock) =>
      lock.unlock(fence).catch((error: Error) => {
        // It is not held any more: its session has ended, or a copy of this request has done it.
        if (!OVER.includes(error.constructor.name)) throw error;
      }),
    );
  }
}
