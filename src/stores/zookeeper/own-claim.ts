/** A claim of this process in a queue of ZooKeeper, and what is known of its place there. */
import type { Claim, ClaimStatus, GoneStatus, Takeover } from '../../contract/store.ts';
import { InformedClaim } from '../informed-claim.ts';
import type { Details } from './data.ts';
import type { KeptSession } from './kept-session.ts';
import type { QueueView } from './queue.ts';
import type { Watcher } from './watches.ts';

/** A queue as it was, and the place of a claim in it. */
export interface Seen {
  readonly view: QueueView;
  readonly index: number;
}

export class OwnClaim extends InformedClaim {
  readonly claim: Claim;
  readonly uuid: string;
  /** Its session. */
  kept: KeptSession;
  /** The session for a delayed release that outlives this process. */
  apart: KeptSession | undefined;
  /** Over by then unless it is renewed, in ms of the clock. */
  until: number;
  /** Of its node, once that is known to have been made. */
  path: string | undefined;
  /** Its place in the order, and its token. */
  number = 0n;
  version = 0;
  /** The number in its node's name. */
  sequence = 0;
  /** Its node may have been made, or not. */
  tried = false;
  /** Its node is there, and may stay. */
  entered = false;
  /** Its release has begun, and is final. */
  left = false;
  /** It was not renewed, so its work may be undone. */
  died = false;
  entering: Promise<ClaimStatus> | undefined;
  sealed: GoneStatus | undefined;
  takeover: Takeover | undefined;
  /** The path of the node that it watches as long as it waits. */
  awaited: string | undefined;
  watcher: Watcher | undefined;
  /** The claim right before it, as far as it was read. */
  before: (Details & { readonly name: string }) | undefined;
  /** The queue when it was not its turn yet, and its place there. */
  seen: Seen | undefined;
  /** The next claim knows that it holds. */
  announced = false;
  /** Whether it has held long enough to watch what concerns it. */
  attentive: 'no' | 'soon' | 'yes' = 'no';
  /** The list of its queue is watched for it. */
  crowdWatched = false;
  /** A watch would have reported a waiter behind it. */
  undisturbed = false;
  #ahead = 0;
  #waiters = 0;
  #limit: number | undefined;

  constructor(claim: Claim, uuid: string, kept: KeptSession) {
    super();
    this.claim = claim;
    this.uuid = uuid;
    this.kept = kept;
    this.until = kept.session.now() + claim.ttlMs;
  }

  /** Updates its place from this view; true if that is worth a wake. */
  see(view: QueueView, index: number): boolean {
    const admitted = index < view.admitted;
    this.#ahead = index;
    this.#waiters = view.waiters;
    this.#limit = view.limitAt(index);
    const waiting = index === view.admitted ? 'first' : 'waiting';
    const holding = view.waiters > 0 ? 'crowded' : 'held';
    // Views may come out of order.
    if (this.held && !admitted) return false;
    return this.learn(admitted ? holding : waiting);
  }

  leftMs(at: number): number {
    return Math.max(0, Math.min(this.until, this.kept.deadline) - at);
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
    const retryInMs = this.before?.lastsMs ?? this.claim.ttlMs;
    return { state: 'waiting', why: 'queue', ahead: this.#ahead, retryInMs, ...common };
  }
}
