/**
 * A live claim of this process: its last confirmed state, and its deadline.
 *
 * Invariant: while `check(now)`, the store cannot grant the claim to another. It holds because of
 * the deadline, which only confirmed requests move. A hint grants with the deadline of the last
 * heartbeat, unless a copy of the claim may arrive late, because then the hint may concern a place
 * that is lost. A reply to a request sent before a hint cannot take the grant back; `waiting` in
 * reply to a later one means that the store forgot. Doubt is not loss: a failed heartbeat leaves
 * the claim `unconfirmed`, with a timer at its deadline.
 * Reading calls nothing: the timer or the heartbeat reports a loss to the claimant. A claim that is
 * granted at once and held briefly has no timer: no heartbeat, hint or failure has made one.
 * What would break it: letting a failed heartbeat, a timer or a hint move the deadline.
 */
import { OneTimer } from '../../base/clock.ts';
import { detached } from '../../base/event-loop.ts';
import type { StoreError } from '../../contract/errors.ts';
import { EXPIRED } from '../../contract/gone.ts';
import type {
  Claim,
  ClaimStatus,
  GoneStatus,
  HeldStatus,
  WaitingStatus,
} from '../../contract/store.ts';
import type { Caller } from '../../store-calls/batcher.ts';
import { pauseBefore } from '../../store-calls/release.ts';
import { checkStatus, lineageOf, NO_REPLY } from '../../store-calls/replies.ts';
import { TRIES_PER_TTL } from '../../store-calls/time-limit.ts';
import { type Loss, lossOf } from '../errors.ts';
import { noticeLimit, noticeQuarantine } from '../events.ts';
import type { BeatMember } from '../heartbeat.ts';
import type { Services } from '../services.ts';
import { Deadline } from './deadline.ts';
import { ASKING, type Claimant, OVER, type State } from './state.ts';
import { watch } from './watching.ts';

export class LiveClaim implements Caller<ClaimStatus>, BeatMember {
  claim: Claim;
  #state: State = ASKING;
  /** Of heartbeats, one at most is under way; `again` sends one more after it or the claim. */
  #question: 'none' | 'sent' | 'again' = 'none';
  readonly deadline: Deadline;
  readonly beatTtlMs: number;
  #timer: OneTimer | undefined;
  readonly services: Services;
  readonly #claimant: Claimant;
  watching: Disposable | undefined;

  /** Subscribes, then claims: a hint cannot fall between the two. */
  constructor(services: Services, claim: Claim, claimant: Claimant) {
    this.services = services;
    this.claim = claim;
    this.#claimant = claimant;
    this.beatTtlMs = claimant.spec.ttlMs;
    this.deadline = new Deadline(services, { ttlMs: claim.ttlMs, beatTtlMs: this.beatTtlMs });
    watch(this);
  }

  get state(): State {
    return this.#state;
  }

  /** False once the claim is given up: its request could arrive after its release. */
  get wanted(): boolean {
    return this.#state.at !== 'over';
  }

  /** True while held; notifies the claimant of a loss. */
  check(now: number = this.services.clock.now()): boolean {
    if (this.#state.at !== 'held') return false;
    const loss = this.deadline.loss(now);
    if (loss) this.lose(loss);
    return !loss;
  }

  /** Heartbeat and status in one request; without heartbeats, none is sent for a held claim. */
  beat(): void {
    const { at } = this.#state;
    if (at === 'over' || at === 'asking') return;
    if (at === 'held' && !(this.awaitDeadline() && this.#claimant.spec.heartbeat)) return;
    const free = this.#question === 'none';
    this.#question = free ? 'sent' : 'again';
    if (!free) return;
    const { claim, renew, store } = this.services.calls;
    const tries = this.#state.at === 'waiting' && this.#state.status && !store.traits.queue;
    (tries ? claim : renew).send(this.claim, this);
  }

  /** Reports, of a held claim, that the store may no longer have it. */
  doubt(cause?: StoreError): void {
    const { clock, events } = this.services;
    if (this.#state.at !== 'held') return;
    const now = clock.now();
    const remainingMs = this.deadline.remaining(now);
    if (remainingMs === 0 || this.deadline.fail(now, now, cause) > 1) return;
    const { resource, kind } = this.claim;
    events.emit('unconfirmed', { resource, kind, remainingMs, cause });
  }

  /** Ends the hold without the store's word; the claim ends with its TTL, or by `release`. */
  lose(loss: Loss): void {
    if (!this.wanted) return;
    this.#end();
    this.#claimant.lost(loss);
  }

  /** The holder since then is done. Returns a promise if the store needs a request. */
  handOn(since: number, now: number): Promise<void> | undefined {
    const afterMs = Math.ceil(this.#claimant.spec.minHoldMs - (now - since));
    return this.wanted ? this.#claimant.handOn(now, afterMs) : this.release(afterMs, now);
  }

  /**
   * Leaves the queue, now or, if it is above 0, `afterMs` from now. Returns a promise, which never
   * rejects, unless it has been tried by then.
   */
  release(afterMs = 0, now: number = this.services.clock.now()): Promise<void> | undefined {
    if (this.#state.at === 'asking') this.#markUnanswered();
    // Only a hold that was not lost ends, by its release, what others wait for.
    const holds = this.#state.at === 'held' && !this.deadline.loss(now);
    if (!holds) this.claim = { ...this.claim, secret: undefined };
    if (this.wanted) this.#end();
    return this.services.calls.releases.send(this.claim, afterMs, now);
  }

  /** The reply to a request that this claim sent itself. */
  settle(status: ClaimStatus | undefined, error: StoreError | undefined, sentAt: number): void {
    const again = this.#question === 'again';
    this.#question = 'none';
    this.receive(status, error, sentAt);
    // A claim that is sent anew asks by itself.
    if (again) this.beat();
  }

  /** The store's reply to any request about this claim sent at `sentAt`. */
  receive(status: ClaimStatus | undefined, error: StoreError | undefined, sentAt: number): void {
    if (!this.wanted) return;
    if (status?.state === 'held') this.#held(status, sentAt);
    else if (status?.state === 'waiting') this.#waiting(status, sentAt);
    else if (status?.state === 'gone') this.#gone(status);
    else this.#failed(error ?? status?.error ?? NO_REPLY, sentAt);
  }

  readonly wake = (given?: ClaimStatus): void => {
    const { clock, calls } = this.services;
    const state = this.#state;
    const hint = given && checkStatus(given);
    if (state.at === 'asking') this.#question = 'again';
    else if (hint?.state === 'held' && state.at === 'held') {
      // A hint tells of one more, and may be anybody's: it never hides who waits.
      const waiters = Math.max(state.waiters, hint.waiters);
      this.#state = { ...state, waiters, hintedAt: clock.now() };
    } else if (hint?.state === 'waiting' && state.at === 'waiting') {
      // After a failure it asks sooner.
      if (!this.deadline.doubt) this.#askWhenDue(hint);
    } else {
      const now = clock.now();
      const sure = state.at === 'waiting' && !state.doubled && this.#claimant.spec.minHoldMs === 0;
      const grants = sure && calls.store.traits.hintsGrant && this.deadline.fresh(now);
      if (grants && hint?.state === 'held') this.#grant(hint, now);
      // The connection that calls this was opened for another caller.
      else detached(() => this.beat());
    }
  };

  #held(status: HeldStatus, sentAt: number): void {
    // First, because this read may find that the clock stood still after the request was sent.
    const now = this.services.clock.now();
    this.deadline.confirm(status.leftMs, sentAt);
    const state = this.#state;
    if (state.at === 'held') {
      const least = sentAt < state.hintedAt ? state.waiters : 0;
      this.#state = { ...state, waiters: Math.max(least, status.waiters) };
      return;
    }
    if (!this.deadline.lasts(this.#claimant.spec.minHoldMs, status.leftMs, now)) {
      this.#wait(undefined);
      // With a pause, because a store may never confirm so much.
      return this.#setTimer(() => this.beat(), 1);
    }
    this.#grant(status, now);
  }

  #grant(status: HeldStatus, now: number): void {
    const { calls, heartbeat } = this.services;
    const { token: number, takeover, waiters, limit } = status;
    const queued = this.#state.at === 'waiting' && this.#state.queued;
    const grant = { number, lineage: lineageOf(calls.store), takeover, queued };
    this.#state = { at: 'held', since: now, grant, waiters, hintedAt: now };
    this.deadline.doubt = undefined;
    this.#timer?.clear();
    if (!this.deadline.fresh(now)) {
      // The grant came too late to be used, so the claim gives up its place.
      void this.release();
      return this.#claimant.gone(EXPIRED);
    }
    const { spec } = this.#claimant;
    if (!spec.heartbeat) heartbeat.remove(this);
    const beats = spec.heartbeat && heartbeat.add(this);
    this.#claimant.granted(now);
    // Else the next heartbeat comes before the deadline, or at once if that took too long.
    if (!beats || this.deadline.remaining(now) <= this.beatTtlMs / 2) this.awaitDeadline();
    noticeLimit(this.services.events, this.claim, limit);
  }

  #waiting(status: WaitingStatus, sentAt: number): void {
    const state = this.#state;
    if (state.at === 'held') {
      if (sentAt > state.since) this.lose({ reason: 'store-reset' });
      return;
    }
    if (!this.claim.queue) return this.#failed(NO_REPLY, sentAt);
    this.deadline.confirm(status.leftMs, sentAt);
    this.#wait(status);
    this.#askWhenDue(status);
    const { calls, events } = this.services;
    // Last, because a listener may end the claim.
    if (state.at === 'asking') noticeLimit(events, this.claim, status.limit);
    if (status.why !== 'data-loss') return;
    noticeQuarantine(events, calls.store, this.claim, status.retryInMs);
  }

  /** Without a status: admitted. */
  #wait(status: WaitingStatus | undefined): void {
    const state = this.#state;
    const doubled = 'doubled' in state && state.doubled;
    const queued = status?.why === 'queue' || ('queued' in state && state.queued);
    this.#state = { at: 'waiting', doubled, queued, status };
    this.services.heartbeat.add(this);
  }

  #gone(status: GoneStatus): void {
    if (this.#state.at === 'held') {
      if (this.check()) this.lose(lossOf(status));
      return;
    }
    this.#end();
    this.#claimant.gone(status);
  }

  #failed(error: StoreError, sentAt: number): void {
    const { clock, entering } = this.services;
    if (error.outcome === 'unknown') this.#markUnanswered();
    if (this.#state.at === 'held') return this.doubt(error);
    const times = this.deadline.fail(clock.now(), sentAt, error);
    if (!error.retryable || this.deadline.hopeless || !this.claim.queue) {
      void this.release();
      return this.#claimant.failed(error);
    }
    const asking = this.#state.at === 'asking';
    const retry = asking ? () => entering.send(this.claim, this) : () => this.beat();
    this.#setTimer(retry, pauseBefore(clock, this.claim, times - 1));
  }

  /** A request went unanswered, so a copy may arrive late, and the release leaves a tombstone. */
  #markUnanswered(): void {
    if (this.#state.at === 'asking') this.#state = { at: 'asking', doubled: true };
    if (!this.claim.unanswered) this.claim = { ...this.claim, unanswered: true };
  }

  /** Claims before this one may be dead by `retryInMs`; a heartbeat may come sooner. */
  #askWhenDue({ retryInMs }: WaitingStatus): void {
    if (this.#state.at === 'waiting' && !this.#state.status) return;
    if (retryInMs >= this.beatTtlMs / TRIES_PER_TTL) return;
    this.#setTimer(() => this.beat(), Math.max(0, retryInMs) + 1);
  }

  /**
   * Notifies the claimant at the deadline; false if it has passed. While half of the TTL is left,
   * the next heartbeat comes first.
   */
  awaitDeadline(): boolean {
    const now = this.services.clock.now();
    if (!this.check(now)) return false;
    const left = this.deadline.remaining(now);
    if (this.#claimant.spec.heartbeat && left > this.beatTtlMs / 2) return true;
    this.#setTimer(() => this.awaitDeadline(), left);
    this.#timer?.unref();
    return true;
  }

  #setTimer(run: () => void, ms: number): void {
    this.#timer ??= new OneTimer(this.services.clock);
    this.#timer.set(run, ms);
  }

  #end(): void {
    this.#state = OVER;
    this.#timer?.clear();
    this.services.heartbeat.remove(this);
    try {
      this.watching?.[Symbol.dispose]();
    } catch {
      // Later hints find the claim over.
    }
  }
}
