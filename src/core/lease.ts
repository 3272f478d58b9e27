/**
 * A held claim, as its holder sees it.
 *
 * Invariant: `held` is true only while the store cannot have granted the resource to another. It
 * compares the clock with the deadline at the moment of the call and calls nothing, so it is right
 * when the event loop was blocked, the process was stopped or the network is gone. The signal only
 * notifies, at the deadline or as soon as the loop is free after it. Once lost, it stays lost.
 * A lease cannot protect work that goes on without a check: for that there are fences.
 * What would break it: a timer or a flag that decides in place of the clock.
 */
import { DONE } from '../base/answer.ts';
import { timers } from '../base/clock.ts';
import { detached } from '../base/event-loop.ts';
import { withJson } from '../base/show.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Kind, Takeover } from '../contract/store.ts';
import type { FencingToken } from '../contract/token.ts';
import { tokenOf } from '../contract/token.ts';
import type { LiveClaim } from './claim/live-claim.ts';
import type { Grant } from './claim/state.ts';
import { LeaseLostError, type Loss } from './errors.ts';
import type { Acquisition, HandOff, OfLease } from './events.ts';
import { offer } from './hand-over.ts';

interface LeaseParts {
  /** A held claim. */
  readonly live: LiveClaim;
  readonly grant: Grant;
  readonly nth: number;
  /** How the lease before it on the same hold ended. */
  readonly before: 'released' | 'handed-over';
  readonly since: number;
  readonly acquisition: Acquisition | undefined;
}

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
  /** @internal What it belongs to ends with it, so it cannot be handed over. */
  stays = false;
  readonly #grant: Grant;
  readonly #nth: number;
  readonly #before: LeaseParts['before'];
  #loss: LeaseLostError | undefined;
  #handedOver: LeaseLostError | undefined;
  /** What `release` has returned; without a loss, this lease is released. */
  #left: Promise<void> | undefined;
  #aborter: AbortController | undefined;
  #ended: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  /** Identifies the lease to listeners; made for the first event. */
  #acquisition: Acquisition | undefined;

  /** @internal */
  constructor({ live, grant, nth, before, since, acquisition }: LeaseParts) {
    this.live = live;
    this.#grant = grant;
    this.#nth = nth;
    this.#before = before;
    this.since = since;
    this.#acquisition = acquisition;
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

  /** Grows from holder to holder. Public; pass it to the fence. */
  get token(): bigint {
    return tokenOf(this.#grant.number, this.#nth);
  }

  get lineage(): string {
    return this.#grant.lineage;
  }

  /**
   * How the hold before this one ended, if the store knows; unless it was released there may be
   * unfinished work.
   */
  get takeover(): Takeover | undefined {
    if (this.#nth > 0) return withJson<Takeover>({ reason: this.#before, token: this.token - 1n });
    const { takeover } = this.#grant;
    return takeover && withJson({ ...takeover, token: tokenOf(takeover.token) });
  }

  /** Reads the clock now. */
  get held(): boolean {
    return this.remainingMs > 0;
  }

  /** Life left without another heartbeat, in ms; 0 when no longer held. Reads the clock now. */
  get remainingMs(): number {
    if (this.#left || this.#loss) return 0;
    const left = this.live.deadline.remaining(this.live.services.clock.now());
    if (left === 0) this.#notice();
    return left;
  }

  /**
   * `unconfirmed`: still held, but the last heartbeat got no reply, or the clock may have stood
   * still since.
   */
  get state(): LeaseState {
    if (this.held) return this.live.deadline.unconfirmed ? 'unconfirmed' : 'held';
    return this.#left && !this.#loss ? 'released' : 'lost';
  }

  /** Aborts with a `LeaseLostError` when it is lost or handed over; not when it is released. */
  get signal(): AbortSignal {
    if (!this.#aborter) {
      this.#aborter = new AbortController();
      const over = this.loss ?? this.#handedOver;
      if (over) this.#aborter.abort(over);
    }
    return this.#aborter.signal;
  }

  /** Why the lease was lost; undefined if it was not. Reads the clock now. */
  get loss(): LeaseLostError | undefined {
    if (this.#left || this.held) return this.#loss;
    return this.#lossOf(this.live.deadline.loss(this.live.services.clock.now()));
  }

  /** Resolves when the lease is released, handed over or lost. */
  get ended(): Promise<void> {
    if (!this.#ended) {
      let resolve = (): void => {};
      const promise = new Promise<void>((settle) => (resolve = settle));
      this.#ended = { promise, resolve };
      if (!this.held) resolve();
    }
    return this.#ended.promise;
  }

  /**
   * @example
   * await step();
   * lease.assertHeld(); // between steps, for work that cannot use the signal
   *
   * @throws LeaseLostError unless held now.
   */
  get assertHeld(): () => void {
    return () => {
      if (this.held) return;
      throw this.loss ?? this.#handedOver ?? new LeaseLostError(this.resource, 'released');
    };
  }

  /**
   * Sends a heartbeat now.
   *
   * @example
   * if (lease.remainingMs < 5_000) await lease.renew();
   *
   * @throws LeaseLostError if it is no longer held, StoreError if the store does not confirm it.
   */
  get renew(): () => Promise<void> {
    return async () => {
      this.assertHeld();
      const error = await confirm(this.live);
      this.assertHeld();
      if (error) throw error;
    };
  }

  /**
   * Releases the lock. Harmless when repeated or when the lease is lost. Resolves when the store
   * has confirmed it or could not be reached; then the TTL ends the claim. Never rejects.
   */
  get release(): () => Promise<void> {
    return () => this.#left ?? this.#release();
  }

  /**
   * Ends this lease here, and keeps the lock: with the text, a secret, `locks.resume` gets a lease
   * on it in another process, within a ttl. If it rejects, the lease has ended, too.
   * @example
   * await jobs.add({ id: order.id, lease: await lease.handOver() });
   * @throws LeaseLostError, StoreError if the store does not confirm it; UnsupportedError, and the
   *   lease goes on, if the store cannot, and for leases of elections, `once` and `refresh`.
   */
  get handOver(): () => Promise<string> {
    return async () => {
      this.assertHeld();
      const give = offer(this, this.#nth + 1);
      this.#handedOver = new LeaseLostError(this.resource, 'handed-over');
      this.#left = DONE;
      this.live.lose({ reason: 'handed-over' });
      this.#aborter?.abort(this.#handedOver);
      this.#ended?.resolve();
      this.live.services.events.emit('released', { ...this.identity(), handedOver: true });
      return give();
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** For logs and messages, with the token as text, because JSON has no large numbers. */
  toJSON(): { resource: string; kind: Kind; lineage: string; token: string; state: LeaseState } {
    const { resource, kind, lineage, token, state } = this;
    return { resource, kind, lineage, token: String(token), state };
  }

  /** @internal Emits `acquired`. */
  announce(): void {
    const { events } = this.live.services;
    if (!events.of.acquired.isThere) return;
    const { takeover } = this;
    events.emit('acquired', { ...this.identity(), takeover, handOff: this.#handOff(takeover) });
  }

  /** @internal */
  identity(): OfLease {
    const { resource, kind, token, permits } = this;
    const store = this.live.services.calls.store.name;
    this.#acquisition ??= { resource, kind, permits, store };
    return { resource, kind, token, acquisition: this.#acquisition };
  }

  /** After a hold that was not released there is a takeover, and no hand-off. */
  #handOff(takeover: Takeover | undefined): HandOff | undefined {
    if (takeover && takeover.reason !== 'released') return undefined;
    if (this.#nth > 0) return 'local';
    return this.#grant.queued ? 'remote' : undefined;
  }

  /** @internal */
  lose(loss: Loss): void {
    if (this.#left) return;
    const error = this.#lossOf(loss);
    this.#aborter?.abort(error);
    this.#ended?.resolve();
    const absent = { detail: undefined, cause: undefined };
    this.live.services.events.emit('lost', { ...this.identity(), ...absent, ...loss });
  }

  /** A read must not call listeners, so they are called in the next microtask. */
  #notice(): void {
    timers.queueMicrotask(() => detached(() => this.live.check()));
  }

  /** Always the same error, whether a read or the claim finds the loss first. */
  #lossOf(loss: Loss | undefined): LeaseLostError | undefined {
    if (loss) this.#loss ??= new LeaseLostError(this.resource, loss.reason, loss);
    return this.#loss;
  }

  #release(): Promise<void> {
    const { clock, events } = this.live.services;
    const now = clock.now();
    const held = this.live.check(now);
    // A listener of its loss has released it.
    if (this.#left) return this.#left;
    // A listener of this event, or of the next holder's, may call `release` again.
    this.#left = DONE;
    this.#ended?.resolve();
    const listened = held && events.of.released.isThere;
    if (listened) events.emit('released', this.identity());
    // Listeners may have taken their time, and only a hold that is not lost is passed on.
    this.#left = this.live.handOn(this.since, listened ? clock.now() : now) ?? DONE;
    return this.#left;
  }
}

// `console.log` prints what `toJSON` has: the id of the claim is secret.
Object.defineProperty(Lease.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: Lease.prototype.toJSON,
});

/** Sends a heartbeat now; resolves with the failure if the store does not confirm the claim. */
function confirm(live: LiveClaim): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    live.services.calls.renew.send(live.claim, {
      settle(status, error, sentAt) {
        live.receive(status, error, sentAt);
        resolve(error ?? (status?.state === 'error' ? status.error : undefined));
      },
    });
  });
}
