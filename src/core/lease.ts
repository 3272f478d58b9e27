/**
 * A held claim, as the one who holds it sees it.
 *
 * Invariant: `held` is true only while the store cannot have granted the resource to another. It
 * reads the clock at the moment of the call and asks nothing else, so it is right when
 * the event loop was blocked, the process was stopped or the network is gone. The signal only
 * notifies; it aborts at the deadline at the latest. Once lost, a lease stays lost.
 * A lease cannot protect work that goes on without looking: for that there are fences.
 * What would break it: to let a timer or a flag decide what the clock has to.
 */
import type { Timer } from '../base/clock.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { Kind, Takeover } from '../contract/store.ts';
import type { FencingToken } from '../contract/token.ts';
import { tokenOf } from '../contract/token.ts';
import { LeaseLostError, type LossReason } from './errors.ts';
import type { Acquisition, HandOff } from './events.ts';
import type { LiveClaim } from './live-claim.ts';
import type { LocalQueue } from './local-queue.ts';
import { confirm, downgrade } from './questions.ts';

export type LeaseState = 'held' | 'unconfirmed' | 'lost' | 'released';

/**
 * A lock held for a while. Methods may be taken off the object: `const { signal, release } =
 * lease`. `await using lease = …` releases it at the end of the block.
 */
export class Lease implements FencingToken, AsyncDisposable {
  /** On this process's clock, in ms. */
  readonly since: number;
  /** @internal The claim behind this lease. */
  readonly live: LiveClaim;
  /** @internal What listeners know it by; made when the first one asks. */
  acquisition: Acquisition | undefined;
  readonly #queue: LocalQueue;
  readonly #nth: number;
  readonly #takeover: Takeover | undefined;
  #state: 'held' | 'lost' | 'released' = 'held';
  #loss: LeaseLostError | undefined;
  #aborter: AbortController | undefined;
  #maxHold: Timer | undefined;
  #left: Promise<void> | undefined;
  #ended: Promise<void> | undefined;
  #tellEnded: (() => void) | undefined;

  /** @internal */
  constructor(queue: LocalQueue, live: LiveClaim, nth: number, since: number) {
    this.#queue = queue;
    this.live = live;
    this.#nth = nth;
    this.since = since;
    if (nth === 0) this.#takeover = live.takeover;
    if (queue.spec.maxHoldMs !== undefined) this.#awaitMaxHold(queue.spec.maxHoldMs);
  }

  /** The full name, prefix included. */
  get resource(): string {
    return this.live.claim.resource;
  }

  get kind(): Kind {
    return this.live.claim.kind;
  }

  get permits(): number {
    return this.kind === 'permits' ? this.live.claim.permits : 1;
  }

  /** Grows from holder to holder. Public; give it to whatever guards the data. */
  get token(): bigint {
    return tokenOf(this.live.number, this.#nth);
  }

  get lineage(): string {
    return this.live.lineage;
  }

  /**
   * How the hold before this one ended, as far as the store knows; after `expired` and `evicted`
   * there may be unfinished work.
   */
  get takeover(): Takeover | undefined {
    if (this.#nth > 0) return { reason: 'released', token: this.token - 1n };
    if (!this.#takeover) return undefined;
    return { ...this.#takeover, token: tokenOf(this.#takeover.token) };
  }

  /** Reads the clock now. */
  get held(): boolean {
    return this.remainingMs > 0;
  }

  /** Life left without another heartbeat, in ms; 0 when no longer held. Reads the clock now. */
  get remainingMs(): number {
    return this.#leftAt(this.#queue.core.clock.now());
  }

  #leftAt(now: number): number {
    if (this.#state !== 'held') return 0;
    const { maxHoldMs } = this.#queue.spec;
    const left = this.live.remaining(now);
    if (maxHoldMs === undefined || left === 0) return left;
    const heldFor = now - this.since;
    if (heldFor < maxHoldMs) return Math.min(left, maxHoldMs - heldFor);
    this.live.lose('max-hold');
    return 0;
  }

  /**
   * `unconfirmed`: still held, but the last heartbeat brought no answer, or the clock may have
   * stood still since.
   */
  get state(): LeaseState {
    if (this.held) return this.live.unconfirmed ? 'unconfirmed' : 'held';
    return this.#state;
  }

  /** Aborts with a `LeaseLostError` when the lease is lost; not when it is released. */
  get signal(): AbortSignal {
    if (!this.#aborter) {
      this.#aborter = new AbortController();
      if (!this.held && this.#loss) this.#aborter.abort(this.#loss);
    }
    return this.#aborter.signal;
  }

  /** Why the lease was lost; undefined if it was not. Reads the clock now. */
  get loss(): LeaseLostError | undefined {
    void this.held;
    return this.#loss;
  }

  /** Resolves when the lease is released or lost. */
  get ended(): Promise<void> {
    this.#ended ??= new Promise((resolve) => {
      if (this.held) this.#tellEnded = resolve;
      else resolve();
    });
    return this.#ended;
  }

  /**
   * @example
   * await step();
   * lease.assertHeld(); // between steps, for work that cannot look at the signal
   *
   * @throws LeaseLostError unless held now.
   */
  get assertHeld(): () => void {
    return () => {
      if (this.held) return;
      throw this.#loss ?? new LeaseLostError(this.resource, 'closed');
    };
  }

  /**
   * Asks the store now, instead of at the next heartbeat.
   *
   * @example
   * if (lease.remainingMs < 5_000) await lease.renew();
   *
   * @throws LeaseLostError if it is no longer held, StoreError if the store does not confirm it.
   */
  get renew(): () => Promise<void> {
    return async () => {
      this.assertHeld();
      const error = await confirm(this.#queue.core, this.live);
      this.assertHeld();
      if (error) throw error;
    };
  }

  /**
   * Gives the lock back. Harmless when repeated or when the lease is lost. Resolves when the store
   * was told or could not be reached; then the TTL ends the claim. Never rejects.
   */
  get release(): () => Promise<void> {
    return () => {
      this.#left ??= this.#release();
      return this.#left;
    };
  }

  /**
   * Turns a write lock into a read lock, without letting go of it: other readers come in, and the
   * token stays. The way back does not exist, because two who tried would wait for each other.
   *
   * @example
   * await using lease = await locks.rwLock('config').write.acquire();
   * await writeConfig('colour = blue');
   * await lease.downgrade(); // from here on, others may read it, too
   *
   * @throws UnsupportedError for other kinds or if the store cannot, LeaseLostError, StoreError.
   */
  get downgrade(): () => Promise<void> {
    return async () => {
      if (this.kind !== 'write' && this.kind !== 'read') {
        throw new UnsupportedError('downgrade', 'Only a write lock can be downgraded.');
      }
      this.assertHeld();
      await downgrade(this.#queue.core, this.live);
      this.assertHeld();
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** For logs and messages: the token as text, because JSON has no large numbers. */
  toJSON(): { resource: string; kind: Kind; lineage: string; token: string; state: LeaseState } {
    const { resource, kind, lineage, token, state } = this;
    return { resource, kind, lineage, token: String(token), state };
  }

  /** @internal Tells the listeners of `acquired`. */
  announce(): void {
    const { events } = this.#queue.core;
    if (!events.of.acquired.isThere) return;
    const { takeover } = this;
    const handOff = this.#handOff(takeover);
    events.emit('acquired', { ...this.identity(), takeover, handOff });
  }

  /** @internal What all events of this lease have. */
  identity(): { resource: string; kind: Kind; token: bigint; acquisition: Acquisition } {
    const { resource, kind, token, permits } = this;
    const store = this.#queue.core.store.name;
    this.acquisition ??= { resource, kind, permits, store };
    return { resource, kind, token, acquisition: this.acquisition };
  }

  /** What the holder before did not give back was taken over, and not handed on. */
  #handOff(takeover: Takeover | undefined): HandOff | undefined {
    if (this.#nth > 0) return 'local';
    const given = takeover === undefined || takeover.reason === 'released';
    return this.live.queued && given ? 'remote' : undefined;
  }

  /** @internal */
  lose(reason: LossReason, detail: string | undefined): void {
    if (this.#state !== 'held') return;
    this.#state = 'lost';
    this.#clearMaxHold();
    this.#loss = new LeaseLostError(this.resource, reason, { detail });
    this.#aborter?.abort(this.#loss);
    this.#tellEnded?.();
    this.#queue.core.events.emit('lost', { ...this.identity(), reason, detail });
  }

  #release(): Promise<void> {
    // A listener that is told of this, or of the next holder, may call it again.
    this.#left = DONE;
    const { core } = this.#queue;
    const now = core.clock.now();
    this.#clearMaxHold();
    if (this.#leftAt(now) > 0) {
      this.#state = 'released';
      this.#tellEnded?.();
      if (core.events.of.released.isThere) core.events.emit('released', this.identity());
    }
    return this.#queue.handOn(this, now) ?? DONE;
  }

  /** Timers may fire a moment early; then the clock says that it is still held. */
  #awaitMaxHold(ms: number): void {
    this.#maxHold = this.#queue.core.clock.setTimeout(() => {
      if (this.held) this.#awaitMaxHold(1);
    }, ms);
    this.#maxHold.unref();
  }

  #clearMaxHold(): void {
    if (this.#maxHold) this.#queue.core.clock.clearTimeout(this.#maxHold);
  }
}

const DONE: Promise<void> = Promise.resolve();
