/** A claim of this process in a queue of ZooKeeper. */
import type { Answer } from '../../base/answer.ts';
import type { NodeWatcher } from '../../clients/zookeeper/watches.ts';
import type { Claim, ClaimStatus, Takeover } from '../../contract/store.ts';
import { OwnClaim } from '../consensus/own-claims.ts';
import type { KeptSession } from './kept-session.ts';
import { type Details, type NodeView, uuidOf } from './places.ts';

/** A queue as it was, and the place of a claim in it. */
export interface SeenPlace {
  readonly view: NodeView;
  readonly index: number;
}

export class ZookeeperClaim extends OwnClaim {
  kept: KeptSession;
  /** The session for a delayed release that outlives this process. */
  apart: KeptSession | undefined;
  /** The path of its node, once that is known to have been made. */
  path: string | undefined;
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
  entering: Answer<ClaimStatus> | undefined;
  /** How the hold before it ended, from when it is asked for. */
  takingOver: Promise<Takeover | undefined> | undefined;
  /** The path of the node that it watches as long as it waits. */
  awaited: string | undefined;
  watcher: NodeWatcher | undefined;
  /** The claim right before it, as far as it was read. */
  before: (Pick<Details, 'number' | 'lastsMs'> & { readonly name: string }) | undefined;
  /** The queue when it was not its turn yet, and its place there. */
  seen: SeenPlace | undefined;
  /** The next claim knows that it holds. */
  announced = false;
  /** Whether it has held long enough to watch what concerns it. */
  attentive: 'no' | 'soon' | 'yes' = 'no';
  /** The list of its queue is watched for it. */
  crowdWatched = false;
  /** A watch would have reported a waiter behind it. */
  undisturbed = false;

  constructor(claim: Claim, kept: KeptSession) {
    super(claim, uuidOf(claim), kept.session.now() + claim.ttlMs);
    this.kept = kept;
  }

  /** Views may come out of order, and its node is made once: it does not wait again. */
  override see(view: NodeView): boolean {
    return this.held && !view.holds(this.id) ? false : super.see(view);
  }

  leftMs(at: number): number {
    return Math.max(0, Math.min(this.until, this.kept.deadline) - at);
  }

  protected override get retryInMs(): number {
    return this.before?.lastsMs ?? this.claim.ttlMs;
  }
}
