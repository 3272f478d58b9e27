/** The claims of this process, the callbacks that wake them, and the queues that it follows. */
import type { Clock } from '../../base/clock.ts';
import type { Claim } from '../../contract/store.ts';
import { ClaimWakes } from '../claim-wakes.ts';
import type { OwnClaim } from './own-claim.ts';

export interface FollowedClaims<C> {
  /** The claims of this process in it, by their ids there. */
  readonly claims: Map<string, C>;
}

export abstract class OwnClaims<
  C extends OwnClaim,
  Q extends FollowedClaims<C>,
> extends ClaimWakes {
  protected readonly clock: Clock;
  protected readonly byId: Map<string, C> = new Map();
  /** By their resources. */
  protected readonly queues: Map<string, Q> = new Map();

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
