/** The claims of this process, and the queues that it follows for them. */
import type { Clock } from '../../base/clock.ts';
import type { Claim } from '../../contract/store.ts';
import { OwnClaims } from '../consensus/own-claims.ts';
import { FollowedQueue } from './following.ts';
import type { KeptSession } from './kept-session.ts';
import type { Tree } from './layout.ts';
import { ZookeeperClaim } from './own-claim.ts';
import type { Sessions } from './sessions.ts';
import type { Tombstones } from './verbs/tombstones.ts';

export interface ZookeeperParts {
  readonly tree: Tree;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly own: ZookeeperClaims;
  readonly tombstones: Tombstones;
  readonly maxWaiters: number;
}

export class ZookeeperClaims extends OwnClaims<ZookeeperClaim> {
  readonly #tree: Tree;
  readonly #queues = new Map<string, FollowedQueue>();

  constructor(tree: Tree, clock: Clock) {
    super(clock);
    this.#tree = tree;
  }

  add(claim: Claim, kept: KeptSession): ZookeeperClaim {
    const own = new ZookeeperClaim(claim, kept);
    this.byId.set(claim.id, own);
    const queue = this.queue(claim.resource);
    queue.claims.set(own.id, own);
    this.#queues.set(claim.resource, queue);
    kept.add(own);
    return own;
  }

  forget(own: ZookeeperClaim): void {
    const { id, resource } = own.claim;
    own.kept.remove(own);
    if (this.byId.get(id) === own) this.byId.delete(id);
    const queue = this.#queues.get(resource);
    queue?.leave(own);
    if (queue?.claims.size === 0) this.#queues.delete(resource);
  }

  /** A queue without claims is not stored. */
  queue(resource: string): FollowedQueue {
    const known = this.#queues.get(resource);
    if (known) return known;
    const wake = (own: ZookeeperClaim, changed: boolean): void => this.notify(own, changed);
    return new FollowedQueue(this.clock, this.#tree.queue(resource), wake);
  }
}
