/**
 * A claim of this process, and what is last known of its place in the queue.
 *
 * Invariant: its status is that of the last view that it was seen in, and each step forward wakes
 * it once: it waits, is the first to wait, holds, and has waiters behind it.
 * What would break it: taking a claim for admitted because it once was. In etcd, a claim that is
 * over is made again under its old name, at the end of the queue.
 */
import type { Clock } from '../../base/clock.ts';
import type { Claim, ClaimStatus, GoneStatus, Takeover } from '../../contract/store.ts';
import { ClaimWakes } from '../subscription.ts';
import type { QueueView } from './queue-view.ts';

/** In the order in which they come; a lone holder is woken again when the first waiter comes. */
const STATES = ['waiting', 'first', 'held', 'crowded'] as const;

export abstract class OwnClaim {
  readonly claim: Claim;
  /** The id of its place in the queue. */
  readonly id: string;
  /** Over by then unless it is renewed, in ms of the clock. */
  until: number;
  /** Its token. */
  number = 0n;
  /** How the hold before it ended, if work may be undone. */
  takeover: Takeover | undefined;
  /** Why it takes no more heartbeats. */
  sealed: GoneStatus | undefined;
  #state: (typeof STATES)[number] | undefined;
  #ahead = 0;
  #waiters = 0;
  #limit: number | undefined;

  constructor(claim: Claim, id: string, until: number) {
    this.claim = claim;
    this.id = id;
    this.until = until;
  }

  /** How long it surely lives from `at` on, in ms. */
  abstract leftMs(at: number): number;

  /** When a waiter should ask again if nothing wakes it, in ms. */
  protected abstract get retryInMs(): number;

  /** It has been seen in its queue. */
  get known(): boolean {
    return this.#state !== undefined;
  }

  get held(): boolean {
    return this.#state === 'held' || this.#state === 'crowded';
  }

  get crowded(): boolean {
    return this.#state === 'crowded';
  }

  /** Keeps its place in this view; true if the claim should be woken for it. */
  see(view: QueueView): boolean {
    const index = view.find(this.id);
    const admitted = view.holds(this.id);
    this.#ahead = index < 0 ? view.total - 1 : index;
    this.#waiters = view.waiters;
    this.#limit = view.limitFor(this.claim.limit);
    const waiting = index === view.admitted ? 'first' : 'waiting';
    const before = this.#state === undefined ? -1 : STATES.indexOf(this.#state);
    this.#state = admitted ? (view.waiters > 0 ? 'crowded' : 'held') : waiting;
    return STATES.indexOf(this.#state) > before;
  }

  /** As last seen, with the life that it has counted from `at`. */
  status(at: number): ClaimStatus {
    if (this.sealed) return this.sealed;
    const limit = this.#limit === undefined ? {} : { limit: this.#limit };
    const common = { leftMs: this.leftMs(at), ...limit };
    if (this.held) {
      const { number: token, takeover } = this;
      const held = { state: 'held', token, waiters: this.#waiters, ...common } as const;
      return takeover ? { ...held, takeover } : held;
    }
    const { retryInMs } = this;
    return { state: 'waiting', why: 'queue', ahead: this.#ahead, retryInMs, ...common };
  }
}

/** The claims of this process, and the callbacks that wake them. */
export abstract class OwnClaims<C extends OwnClaim> extends ClaimWakes {
  protected readonly clock: Clock;
  protected readonly byId: Map<string, C> = new Map();

  constructor(clock: Clock) {
    super();
    this.clock = clock;
  }

  find({ id }: Pick<Claim, 'id'>): C | undefined {
    return this.byId.get(id);
  }

  /** Each has to ask. */
  alarm(claims: Iterable<C>): void {
    for (const own of [...claims]) this.notify(own, false);
  }

  /** With its status, if that has changed, or to ask. */
  protected notify(own: C, changed: boolean): void {
    this.wake(own.claim, changed ? own.status(this.clock.now()) : undefined);
  }
}
