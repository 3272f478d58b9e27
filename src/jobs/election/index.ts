/**
 * N of M candidates lead; the others stand by, in order.
 *
 * Invariant: at most `seats` lead, because each seat is a lease of a semaphore whose limit is the
 * number of seats. Candidates and standbys are its queue, so the next standby takes over in the
 * same step in which a leader leaves, or when the TTL of a dead leader has run out.
 * What would break it: a candidate that leads without the lease (candidate.ts).
 */
import { firstOf } from '../../base/aborts.ts';
import { sleep } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { type Checked, checkOptions, text, wholeNumber } from '../../base/options.ts';
import { MAX_PERMITS, type Member } from '../../contract/store.ts';
import { checkSignal } from '../../core/acquire-options.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import { LOCK, type LockOptions } from '../../primitives/lock-options.ts';
import { type CampaignOptions, Candidate, passing } from './candidate.ts';

export type { CampaignOptions, Candidate, CandidateState, Term } from './candidate.ts';

export interface ElectionOptions extends Omit<LockOptions, 'reentrant' | 'fair'> {
  /** How many lead at a time; default 1. */
  readonly seats?: number;
}

/** The leaders and the standbys, each in order. */
export interface Standings {
  readonly leaders: readonly Member[];
  readonly standbys: readonly Member[];
}

export interface ObservedStandings extends Standings {
  /** Others may have led and gone since the last standings; false for the first ones. */
  readonly missed: boolean;
}

export interface ObserveOptions {
  /** How often to look; default 500 ms. */
  readonly every?: Duration;
  /** Ends the observation; the loop then just ends. */
  readonly signal?: AbortSignal;
}

const { ttl, minHold, maxHold, heartbeat } = LOCK;
const ELECTION = { ttl, minHold, maxHold, heartbeat, seats: wholeNumber(1, MAX_PERMITS, 1) };

const CAMPAIGN = { label: text, signal: checkSignal };

const OBSERVE = { every: positive(500), signal: checkSignal };

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
    return observe(this.#seat, checkOptions(options, OBSERVE, 'observe'));
  }
}

/**
 * An election from outside: the observer inspects the queue again and again.
 *
 * Invariant: each yielded state differs from the one before it, and they come in look order.
 * Between two looks any candidate may have led, so every state but the first is marked `missed`.
 * What would break it: looking while the reader is busy, because the state would be old by then.
 */
async function* observe(
  { engine, resource }: Lock,
  { every: everyMs, signal }: Checked<typeof OBSERVE>,
): AsyncGenerator<ObservedStandings, void, void> {
  if (signal?.aborted) return;
  engine.checkOpen();
  // Also frees the caller's signal if the loop is never resumed.
  const { aborter, forget } = firstOf([engine.closing.signal, ...(signal ? [signal] : [])]);
  const over = aborter.signal;
  try {
    let last: string | undefined;
    while (!over.aborted) {
      const missed = last !== undefined;
      // A failure of the first look reaches the caller.
      const queue = await engine.inspect(resource).catch(missed ? passing : undefined);
      const all = queue && [...queue.holders, undefined, ...queue.waiters];
      const now = all?.map((member) => member?.number).join();
      if (queue && now !== last && !over.aborted) {
        last = now;
        yield { leaders: queue.holders, standbys: queue.waiters, missed };
      }
      await sleep(engine.services.clock, everyMs, over);
    }
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    forget();
  }
}
