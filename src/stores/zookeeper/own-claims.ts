/** The claims of this process, the callbacks that wake them, and their queues. */

import type { Clock } from '../../base/clock.ts';
import type { Claim, Wake } from '../../contract/store.ts';
import { ClaimWakes } from '../claim-wakes.ts';
import { FollowedQueue } from './followed-queue.ts';
import type { KeptSession } from './kept-session.ts';
import { uuidOf } from './nodes.ts';
import { OwnClaim } from './own-claim.ts';
import type { Tree } from './tree.ts';

interface OwnParts {
  readonly tree: Tree;
  readonly clock: Clock;
}

export class OwnClaims {
  readonly #byId = new Map<string, OwnClaim>();
  readonly #wakes = new ClaimWakes();
  readonly #queues = new Map<string, FollowedQueue>();
  readonly #parts: OwnParts;

  constructor(parts: OwnParts) {
    this.#parts = parts;
  }

  subscribe(claim: Claim, wake: Wake): AsyncDisposable {
    return this.#wakes.subscribe(claim, wake);
  }

  find({ id }: Pick<Claim, 'id'>): OwnClaim | undefined {
    return this.#byId.get(id);
  }

  add(claim: Claim, kept: KeptSession): OwnClaim {
    const own = new OwnClaim(claim, uuidOf(claim), kept);
    this.#byId.set(claim.id, own);
    const queue = this.queue(claim.resource);
    queue.claims.set(own.uuid, own);
    this.#queues.set(claim.resource, queue);
    kept.add(own);
    return own;
  }

  forget(own: OwnClaim): void {
    const { id, resource } = own.claim;
    own.kept.remove(own);
    if (this.#byId.get(id) === own) this.#byId.delete(id);
    const queue = this.#queues.get(resource);
    queue?.leave(own);
    if (queue?.claims.size === 0) this.#queues.delete(resource);
  }

  /** A queue without claims is not stored. */
  queue(resource: string): FollowedQueue {
    const known = this.#queues.get(resource);
    if (known) return known;
    const { tree, clock } = this.#parts;
    const wake = (own: OwnClaim, news: boolean): void => this.#wake(own, news);
    return new FollowedQueue({ clock, path: tree.queue(resource), wake });
  }

  /** Each has to ask. */
  alarm(claims: Iterable<OwnClaim>): void {
    for (const own of [...claims]) this.#wake(own, false);
  }

  #wake(own: OwnClaim, news: boolean): void {
    const hint = news ? own.status(this.#parts.clock.now()) : undefined;
    this.#wakes.wake(own.claim, hint);
  }
}
