/** The claims of this process, the callbacks that wake them, and the queues that it follows. */
import type { Clock } from '../../base/clock.ts';
import type { Claim, Wake } from '../../contract/store.ts';
import { ClaimWakes } from '../claim-wakes.ts';
import type { Subscription } from '../subscription.ts';
import type { OwnClaim } from './own-claim.ts';

/** A queue that is followed. */
export interface FollowedClaims<C> {
  /** The claims of this process in it, by their ids there. */
  readonly claims: Map<string, C>;
}

export abstract class OwnClaims<C extends OwnClaim, Q extends FollowedClaims<C>> {
  protected readonly clock: Clock;
  protected readonly byId: Map<string, C> = new Map();
  /** By their resources. */
  protected readonly queues: Map<string, Q> = new Map();
  readonly #wakes = new ClaimWakes();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  subscribe(claim: Claim, wake: Wake): Subscription {
    return this.#wakes.subscribe(claim, wake);
  }

  find({ id }: Pick<Claim, 'id'>): C | undefined {
    return this.byId.get(id);
  }

  /** Each has to ask. */
  alarm(claims: Iterable<C>): void {
    for (const own of [...claims]) this.wake(own, false);
  }

  protected isSubscribed({ claim }: C): boolean {
    return this.#wakes.has(claim);
  }

  /** With its status, if that has changed, or to ask. */
  protected wake(own: C, changed: boolean): void {
    this.#wakes.wake(own.claim, changed ? own.status(this.clock.now()) : undefined);
  }
}
