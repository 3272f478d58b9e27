/**
 * N of M candidates lead; the others stand by, in order.
 *
 * Invariant: at most `seats` lead, because each seat is a lease of a semaphore whose limit is the
 * number of seats. Candidates and standbys are its queue, so the next standby takes over in the
 * same step in which a leader leaves, or when the TTL of a dead leader has run out.
 * What would break it: a candidate that leads without the lease (candidate.ts).
 */
import { checkOptions, text, wholeNumber } from '../../base/options.ts';
import { MAX_PERMITS } from '../../contract/store.ts';
import { checkSignal } from '../../core/acquire-options.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import { LOCK, type LockOptions } from '../../primitives/lock-options.ts';
import { type CampaignOptions, Candidate } from './candidate.ts';
import {
  OBSERVE,
  type ObservedStandings,
  type ObserveOptions,
  observe,
  type Standings,
} from './observing.ts';

export interface ElectionOptions extends Omit<LockOptions, 'reentrant' | 'fair'> {
  /** How many lead at a time; default 1. */
  readonly seats?: number;
}

const { ttl, minHold, maxHold, heartbeat } = LOCK;
const ELECTION = {
  ttl,
  minHold,
  maxHold,
  heartbeat,
  seats: wholeNumber(1, MAX_PERMITS, 1),
};

const CAMPAIGN = { label: text, signal: checkSignal };

/**
 * An election: `seats` of all candidates lead, the others stand by.
 *
 * @example
 * import { createElection } from 'holdfast/election';
 *
 * const election = createElection(locks, 'scheduler', { seats: 2 });
 * const { leaders } = await election.standings();
 *
 * @throws UsageError
 */
export function createElection(
  locks: Locks,
  name: string,
  options: ElectionOptions = {},
): Election {
  // Refuses what are no locks.
  engineOf(locks);
  const { seats: limit, ...rest } = checkOptions(options, ELECTION, 'createElection');
  return new Election(locks.semaphore(name, { ...rest, limit }));
}

/** Made by `createElection`. */
export class Election {
  readonly #seat: Lock;

  /** @internal */
  constructor(seat: Lock) {
    this.#seat = seat;
  }

  /** The full name, prefix included. */
  get resource(): string {
    return this.#seat.resource;
  }

  /**
   * Stands for election, and stands again after every term, until it resigns. If a loop over its
   * terms loses one, it stands again when the loop asks for the next.
   *
   * @example
   * import { createElection } from 'holdfast/election';
   *
   * const candidate = createElection(locks, 'scheduler').campaign({ label: 'worker 3' });
   * for await (const term of candidate) await lead(term.signal);
   */
  campaign(options: CampaignOptions = {}): Candidate {
    return new Candidate(this.#seat, checkOptions(options, CAMPAIGN, 'campaign'));
  }

  /** The current leaders and standbys. */
  async standings(): Promise<Standings> {
    const { holders, waiters } = await this.#seat.engine.inspect(this.resource);
    return { leaders: holders, standbys: waiters };
  }

  /**
   * The standings now, and again when a look finds that a candidate came, went or moved. Between
   * two looks others may have led (`missed`). Goes on when the store fails for a while, but not if
   * the first look does. Ends with its signal, and when the locks are closed.
   * @throws StoreError, also later if it will not pass; ClosedError
   *
   * @example
   * import { createElection } from 'holdfast/election';
   *
   * const election = createElection(locks, 'scheduler');
   * for await (const { leaders } of election.observe()) {
   *   console.log(leaders.map(({ holder }) => holder.label));
   * }
   */
  observe(options: ObserveOptions = {}): AsyncGenerator<ObservedStandings, void, void> {
    const read = checkOptions(options, OBSERVE, 'observe');
    return observe(this.#seat, read);
  }
}
