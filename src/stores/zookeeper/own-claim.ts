/** A claim of this process in a queue of ZooKeeper, and what it was told of its place there. */
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
  /** What it lives by. */
  kept: KeptSession;
  /** What it shall live by when it is to end later than this process might. */
  apart: KeptSession | undefined;
  /** Over by then unless somebody asks, in ms of the clock. */
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
  /** Its release has begun, which has the last word. */
  left = false;
  /** Nobody has renewed it, so its work may be undone. */
  died = false;
  entering: Promise<ClaimStatus> | undefined;
  sealed: GoneStatus | undefined;
  takeover: Takeover | undefined;
  /** The path of what has to change before it is its turn; it is watched. */
  awaited: string | undefined;
  watcher: Watcher | undefined;
  /** Who stands right before it, as far as it was asked. */
  before: (Details & { readonly name: string }) | undefined;
  /** The queue when it was not its turn yet, and its place there. */
  seen: Seen | undefined;
  /** Behind it somebody knows that it holds. */
  announced = false;
  /** It has held for long enough to want to know what concerns it. */
  attentive: 'no' | 'soon' | 'yes' = 'no';
  /** The list of its queue is watched for its sake. */
  crowdWatched = false;
  /** It would have been told if somebody had come to wait behind it. */
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

  /** Keeps what this view says of its place; true if that is worth waking somebody for. */
  see(view: QueueView, index: number): boolean {
    const admitted = index < view.admitted;
    this.#ahead = index;
    this.#waiters = view.waiters;
    this.#limit = view.limitAt(index);
    const waiting = index === view.admitted ? 'first' : 'waiting';
    const holding = view.waiters > 0 ? 'crowded' : 'held';
    // An older view may come later.
    if (this.held && !admitted) return false;
    return this.learn(admitted ? holding : waiting);
  }

  leftMs(at: number): number {
    return Math.max(0, Math.min(this.until, this.kept.deadline) - at);
  }

  /** As it was last told, with the life that it has counted from `at`. */
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
