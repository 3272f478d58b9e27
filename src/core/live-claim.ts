/**
 * A claim of this process while it lives: what the store last confirmed, and until when.
 *
 * Invariant: while `alive(now)` is true for a held claim, the store cannot grant it to another. It
 * holds because of the deadline (validity.ts), which only confirmed requests move. A hint grants
 * with the deadline of the last heartbeat, unless these may be about two places in the queue. A
 * reply to a request sent before a hint cannot take the grant back; `waiting` in reply to a later
 * one means that the store forgot. Doubt is not loss: a failed heartbeat leaves the claim
 * `unconfirmed`, with a timer at its deadline. Timers only notify: whoever asks reads the clock, so
 * a blocked loop or a stopped process cannot be told that a dead claim is alive.
 * What would break it: to let a failed heartbeat, a timer or a hint move the deadline.
 */

import { inBackground } from '../base/event-loop.ts';
import type { StoreError } from '../contract/errors.ts';
import type {
  Claim,
  ClaimStatus,
  GoneStatus,
  HeldStatus,
  WaitingStatus,
} from '../contract/store.ts';
import type { Asker } from '../store-calls/batcher.ts';
import { depart, pauseBefore } from '../store-calls/release.ts';
import { checkStatus, lineageOf, NO_ANSWER } from '../store-calls/replies.ts';
import { TRIES_PER_TTL } from '../store-calls/time-limit.ts';
import type { ClaimListener, ClaimTerms } from './claim-terms.ts';
import { Validity } from './deadline.ts';
import type { Core } from './engine.ts';
import { type LossReason, lossOf } from './errors.ts';
import { noticeDoubt, noticeLimit, noticeQuarantine } from './notices.ts';
import { OneTimer } from './one-timer.ts';
import { subscribe } from './watching.ts';

type Phase = 'claiming' | 'waiting' | 'held' | 'over';

export class LiveClaim implements Asker<ClaimStatus> {
  readonly terms: ClaimTerms;
  phase: Phase = 'claiming';
  number = 0n;
  waiters = 0;
  ahead: number | undefined;
  /** It has stood in the store's queue. */
  queued = false;
  /** Why the last request failed; undefined after one that did not. */
  failure: StoreError | undefined;
  takeover: HeldStatus['takeover'];
  /** Of the store that granted it; a store that lost its memory may have another one now. */
  lineage = '';
  claim: Claim;
  #grantedAt = Number.NEGATIVE_INFINITY;
  /** The store has admitted it, but has yet to confirm a life long enough. */
  #admitted = false;
  /** It may have entered twice, and a hint be about a place that it has lost since. */
  #sentTwice = false;
  #asking = false;
  #askAgain = false;
  #failures = 0;
  #unsubscribe: (() => void) | undefined;
  readonly #validity: Validity;
  readonly #timer: OneTimer;
  readonly #core: Core;
  readonly #listener: ClaimListener;

  constructor(core: Core, claim: Claim, terms: ClaimTerms, listener: ClaimListener) {
    this.#core = core;
    this.claim = claim;
    this.terms = terms;
    this.#listener = listener;
    this.#validity = new Validity(core, claim.ttlMs, core.clock.now());
    this.#timer = new OneTimer(core.clock);
  }

  get unconfirmed(): boolean {
    return this.#validity.unconfirmed;
  }

  /** A claim that has been given up is not sent any more: it might come after its own release. */
  get wanted(): boolean {
    return this.phase !== 'over';
  }

  /** Subscribes, then claims: a hint cannot fall between the two. */
  start(): void {
    const parts = { claim: this.claim, wake: this.#wake, ready: () => this.#enter() };
    this.#unsubscribe = subscribe(this.#core, parts);
  }

  remaining(now: number = this.#core.clock.now()): number {
    return this.alive(now) ? this.#validity.deadline - now : 0;
  }

  /** True while held; at the deadline this is what ends it, whether a timer fired or not. */
  alive(now: number): boolean {
    if (this.phase !== 'held') return false;
    if (now < this.#validity.deadline) return true;
    this.lose(this.#core.heartbeat.stalled(this, now) ? 'stalled' : 'expired');
    return false;
  }

  /** Enough life for another hand-off. */
  fresh(now: number): boolean {
    return this.phase === 'held' && this.#validity.fresh(now);
  }

  /** Heartbeat and question in one. At most one is under way. */
  ask(): void {
    if (this.phase === 'over' || this.phase === 'claiming') return;
    // Every question is a heartbeat.
    if (this.phase === 'held' && !this.terms.heartbeat) return;
    if (this.phase === 'held') this.#alarm();
    if (this.#asking) {
      this.#askAgain = true;
      return;
    }
    this.#asking = true;
    const { lanes, store, heartbeat } = this.#core;
    const tries = this.phase === 'waiting' && !this.#admitted && !store.traits.queue;
    (tries ? lanes.claim : heartbeat.laneOf(this)).send(this.claim, this);
  }

  /** Tells its holder, if there is one, that nobody knows whether the store still has it. */
  doubt(cause: StoreError | undefined): void {
    const remainingMs = this.remaining();
    if (remainingMs === 0 || this.#validity.unanswered) return;
    this.#validity.unanswered = true;
    noticeDoubt(this.#core.events, this.claim, { remainingMs, cause });
  }

  /** Ends the hold without the store's word; the claim ends with its TTL, or by `release`. */
  lose(reason: LossReason, detail?: string): void {
    if (this.phase === 'over') return;
    this.#end();
    this.#listener.lost(reason, detail);
  }

  /**
   * Leaves the queue, now or `afterMs` from now. Resolves after the first try; further ones follow
   * in the background until the TTL has taken care of it. Never rejects.
   */
  release(afterMs = 0): Promise<void> {
    if (this.phase === 'claiming') this.#doubt();
    this.#end();
    return depart(this.#core, this.claim, afterMs);
  }

  /** The answer to what this claim itself asked. */
  settle(status: ClaimStatus | undefined, error: StoreError | undefined, sentAt: number): void {
    this.#asking = false;
    this.receive(status, error, sentAt);
  }

  #enter(): void {
    if (this.phase !== 'over') this.#core.lanes.claim.send(this.claim, this);
  }

  /** What the store answered to a request sent at `sentAt`. */
  receive(status: ClaimStatus | undefined, error: StoreError | undefined, sentAt: number): void {
    if (this.phase === 'over') return;
    if (status?.state === 'held') this.#held(status, sentAt);
    else if (status?.state === 'waiting') this.#waiting(status, sentAt);
    else if (status?.state === 'gone') this.#gone(status);
    else this.#failed(error ?? status?.error ?? NO_ANSWER);
    if (this.#askAgain && this.phase !== 'claiming') {
      this.#askAgain = false;
      this.ask();
    }
  }

  readonly #wake = (news?: ClaimStatus): void => {
    const { clock, store } = this.#core;
    if (this.phase === 'over') return;
    const hint = news && checkStatus(news);
    const now = clock.now();
    const grants = store.traits.hintsGrant && !this.terms.confirmGrant && !this.#sentTwice;
    if (this.phase === 'claiming') this.#askAgain = true;
    else if (hint?.state === 'held' && this.phase === 'held') this.waiters = hint.waiters;
    else if (hint?.state === 'waiting' && this.phase === 'waiting') this.#schedule(hint);
    else if (grants && hint?.state === 'held' && this.#validity.fresh(now)) this.#grant(hint, now);
    // Called by a connection, which was opened for somebody else.
    else inBackground(() => this.ask());
  };

  #held(status: HeldStatus, sentAt: number): void {
    // First, for it may notice that it has stood still since the request was sent.
    const now = this.#core.clock.now();
    this.#confirm(status.leftMs, sentAt);
    this.waiters = status.waiters;
    if (this.phase === 'held') return;
    if (this.terms.confirmGrant && !this.#validity.isFull(status.leftMs)) {
      this.#admitted = true;
      this.#stand();
      // With a pause, for a store that never confirms so much would be asked without end.
      return this.#timer.set(() => this.ask(), 1);
    }
    this.#grant(status, now);
  }

  #grant(status: HeldStatus, now: number): void {
    this.phase = 'held';
    this.#grantedAt = now;
    this.number = status.token;
    this.lineage = lineageOf(this.#core.store);
    this.waiters = status.waiters;
    this.ahead = undefined;
    this.takeover = status.takeover;
    this.#timer.clear();
    if (!this.fresh(now)) {
      // It came too late to be worth anything; the place in the queue goes with it.
      void this.release();
      this.#listener.gone({ state: 'gone', why: 'expired' });
      return;
    }
    if (this.terms.heartbeat) this.#core.heartbeat.add(this);
    else this.#core.heartbeat.remove(this);
    this.#listener.granted(now);
    // After a pause since `now`, the heartbeat that is arranged by now may come too late.
    this.#alarm();
    noticeLimit(this.#core.events, this.claim, status.limit);
  }

  #waiting(status: WaitingStatus, sentAt: number): void {
    if (this.phase === 'held') {
      if (sentAt > this.#grantedAt) this.lose('store-reset');
      return;
    }
    if (!this.claim.queue) return this.#failed(NO_ANSWER);
    this.#confirm(status.leftMs, sentAt);
    const entered = this.phase === 'claiming';
    this.#admitted = false;
    this.queued ||= status.why === 'queue';
    this.#stand();
    this.ahead = status.ahead;
    this.#schedule(status);
    // Last, for a listener may end the claim.
    if (entered) noticeLimit(this.#core.events, this.claim, status.limit);
    noticeQuarantine(this.#core.events, this.claim, status);
  }

  #stand(): void {
    this.phase = 'waiting';
    this.#core.heartbeat.add(this);
  }

  #gone(status: GoneStatus): void {
    if (this.phase === 'held') {
      if (this.alive(this.#core.clock.now())) this.lose(lossOf(status.why), status.detail);
      return;
    }
    this.#end();
    this.#listener.gone(status);
  }

  #failed(error: StoreError): void {
    this.failure = error;
    if (error.outcome === 'unknown') this.#doubt();
    if (this.phase === 'held') return this.doubt(error);
    const now = this.#core.clock.now();
    if (!error.retryable || this.#validity.hopeless(now) || !this.claim.queue) {
      void this.release();
      return this.#listener.failed(error);
    }
    const retry = this.phase === 'claiming' ? () => this.#enter() : () => this.ask();
    this.#timer.set(retry, pauseBefore(this.#core.clock, this.claim, this.#failures++));
  }

  #confirm(leftMs: number, sentAt: number): void {
    this.#failures = 0;
    this.failure = undefined;
    this.#validity.confirm(leftMs, sentAt);
  }

  /** A request went unanswered, so a copy of it may arrive late: the release must know. */
  #doubt(): void {
    if (this.phase === 'claiming') this.#sentTwice = true;
    if (!this.claim.unanswered) this.claim = { ...this.claim, unanswered: true };
  }

  /** What stands before may be dead by `retryInMs`; if a heartbeat comes sooner, it will tell. */
  #schedule(status: WaitingStatus): void {
    if (this.#admitted) return;
    const beatMs = this.terms.beatTtlMs / TRIES_PER_TTL;
    if (status.retryInMs < beatMs)
      this.#timer.set(() => this.ask(), Math.max(0, status.retryInMs) + 1);
  }

  /**
   * At the deadline, somebody who waits for the signal must hear of it. While half of the TTL is
   * left, the next heartbeat comes first.
   */
  #alarm(): void {
    const { heartbeat, beatTtlMs } = this.terms;
    const left = this.remaining();
    if (left === 0 || (heartbeat && left > beatTtlMs / 2)) return;
    this.#timer.set(() => this.#alarm(), left);
    this.#timer.unref();
  }

  #end(): void {
    this.phase = 'over';
    this.#timer.clear();
    this.#core.heartbeat.remove(this);
    this.#unsubscribe?.();
  }
}
