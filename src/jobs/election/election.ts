/**
 * N of M lead, the others stand by, in order.
 *
 * Invariant: a candidate leads only while it holds a seat, a lease of a semaphore whose limit is
 * the number of seats. Candidates and standbys are the queue, so the next standby takes over in the
 * same step in which a leader leaves, or when the TTL of a dead leader has run out. A term
 * ends when its lease is lost or given up; unless it has resigned, the candidate then stands
 * again, at the end of the queue, as soon as the body of the loop is done: whoever is in the queue
 * can lead at once. A lost seat is given back by the work that sat on it, when it is done, or else
 * by its TTL, so that nobody begins beside it. What a term cannot promise is what no lease can: a
 * leader that does not look at its signal may go on after the next one has begun.
 * What would break it: to keep the state beside the lease instead of reading it from there, or to
 * stand while a body of before is at work, for it would hold the seat and not lead.
 */

import { firstOf, onAbort } from '../../base/aborts.ts';
import { sleep } from '../../base/clock.ts';
import { readOptions } from '../../base/options.ts';
import { ClosedError } from '../../contract/errors.ts';
import type { Engine } from '../../core/engine.ts';
import type { Lease } from '../../core/lease.ts';
import type { AcquireOptions } from '../../core/waiter.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import { checkLimit, type LockOptions } from '../../primitives/lock-options.ts';
import {
  type ObservedStandings,
  type ObserveOptions,
  observe,
  passing,
  type Standings,
} from './observing.ts';

export interface ElectionOptions extends Omit<LockOptions, 'reentrant' | 'fair'> {
  /** How many lead at a time; default 1. */
  readonly seats?: number;
}

export type CandidateState = 'standby' | 'leader' | 'resigned';

export type CampaignOptions = Pick<AcquireOptions, 'label' | 'signal'>;

const ELECTION_OPTIONS = ['ttl', 'minHold', 'maxHold', 'heartbeat', 'seats'];

const CAMPAIGN_OPTIONS = ['label', 'signal'];

/** Pause after a failure of the store before standing again, in ms. */
const RETRY_MS = 500;

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
  const engine = engineOf(locks);
  const { seats = 1, ...rest } = readOptions(options, ELECTION_OPTIONS, 'createElection');
  const limit = checkLimit(seats, 'seats');
  return new Election(engine, locks.semaphore(name, { ...rest, limit }));
}

/** Made by `createElection`. */
export class Election {
  readonly #engine: Engine;
  readonly #seat: Lock;

  /** @internal */
  constructor(engine: Engine, seat: Lock) {
    this.#engine = engine;
    this.#seat = seat;
  }

  /** The full name, prefix included. */
  get resource(): string {
    return this.#seat.resource;
  }

  /**
   * Stands for election, and stands again after every term, until it resigns. Where a loop has
   * taken a term that was lost, it stands again when the loop asks for the next one.
   *
   * @example
   * import { createElection } from 'holdfast/election';
   *
   * const candidate = createElection(locks, 'scheduler').campaign({ label: 'worker 3' });
   * for await (const term of candidate) await lead(term.signal);
   */
  campaign(options: CampaignOptions = {}): Candidate {
    const read = this.#seat.read(readOptions(options, CAMPAIGN_OPTIONS, 'campaign'));
    return new Candidate(this.#engine, this.#seat, read);
  }

  /** Who leads and who stands by now. */
  async standings(): Promise<Standings> {
    const { holders, waiters } = await this.#engine.inspect(this.resource);
    return { leaders: holders, standbys: waiters };
  }

  /**
   * The standings now, and again when somebody came, went or moved: each change once, in order.
   * Where the store tells them, none is left out, however short; `missed` says where that could not
   * be known. Elsewhere it is looked for `every` so often. Goes on when the store fails for a
   * while, but not if the first look does. Ends with its signal, and when the locks are closed.
   * @throws StoreError, also later if it will not pass; ClosedError
   *
   * @example
   * import { createElection } from 'holdfast/election';
   *
   * const election = createElection(locks, 'scheduler');
   * for await (const { leaders, missed } of election.observe()) {
   *   console.log(missed ? 'at least' : 'exactly', leaders.map(({ holder }) => holder.label));
   * }
   */
  observe(options: ObserveOptions = {}): AsyncGenerator<ObservedStandings, void, void> {
    return observe(this.#engine, this.resource, options);
  }
}

/** One term of leadership. */
export interface Term {
  readonly lease: Lease;
  /** Aborts with a `LeaseLostError` when the term ends before it is given up. */
  readonly signal: AbortSignal;
}

/**
 * Takes part in an election. `for await (const term of candidate) await lead(term.signal)` leads
 * term by term: when the body is done, the seat is given up and the candidate stands again; leaving
 * the loop resigns. A body that does not return keeps the candidate out of the queue.
 */
export class Candidate implements AsyncDisposable, AsyncIterable<Term> {
  readonly #engine: Engine;
  readonly #seat: Lock;
  readonly #end = new AbortController();
  readonly #campaign: Promise<void>;
  #lease: Lease | undefined;
  #ended = false;
  #failure: unknown;
  /** Bodies of loops that are at work, for a term that may be over. */
  #bodies = 0;
  #tell: () => void = () => {};
  #changed: Promise<void> = Promise.resolve();

  /** @internal Made by `Election.campaign`. */
  constructor(engine: Engine, seat: Lock, options: CampaignOptions) {
    this.#engine = engine;
    this.#seat = seat;
    const { label, signal } = options;
    const forgetSignal = signal && onAbort(signal, () => void this.resign());
    if (signal?.aborted) this.#end.abort(signal.reason);
    engine.closables.add(this);
    this.#renewNews();
    this.#campaign = this.#stand(label === undefined ? {} : { label })
      .catch((error) => {
        if (!this.#end.signal.aborted) this.#failure ??= error;
      })
      .then(() => {
        forgetSignal?.();
        this.#ended = true;
        this.#end.abort(new ClosedError('The candidacy is over'));
        engine.closables.delete(this);
        this.#tell();
      });
  }

  /** Reads the clock now. */
  get state(): CandidateState {
    if (this.#lease?.held) return 'leader';
    return this.#ended || this.#end.signal.aborted ? 'resigned' : 'standby';
  }

  /** The seat, while it leads. */
  get lease(): Lease | undefined {
    return this.#lease?.held ? this.#lease : undefined;
  }

  /**
   * Gives up the seat, or the place in the queue, at once and for good; the signal of a running
   * term aborts first. To finish the work first, leave the loop instead. Resolves when the seat was
   * given back, or the wait has ended; the store hears of a standby's leaving in the background.
   * Never rejects.
   */
  readonly resign = async (): Promise<void> => {
    this.#end.abort(new ClosedError('The candidate has resigned'));
    const released = this.#lease?.release();
    this.#tell();
    await released;
    await this.#campaign;
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }

  /**
   * Term after term, until it resigns.
   * @throws what made it impossible to stand: MismatchError, QueueFullError, StoreError,
   *   ClosedError, or LeaseLostError if it was evicted while it stood by.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Term, void, void> {
    let released: Promise<void> | undefined;
    try {
      for (;;) {
        const lease = await this.#elected();
        if (!lease) return;
        const { aborter, forget } = firstOf([lease.signal, this.#end.signal]);
        try {
          yield { lease, signal: aborter.signal };
        } finally {
          released = lease.release();
          this.#bodies--;
          this.#tell();
        }
        forget();
        await released;
      }
    } finally {
      // In the turn in which the loop is left, or it would stand again for the seat that it leaves.
      await Promise.all([this.resign(), released]);
    }
  }

  /** For `locks.close()`: stands no more; whoever leads may finish what it does. */
  close(): void {
    this.#failure ??= new ClosedError();
    if (this.#bodies === 0 || !this.#lease?.held) void this.resign();
  }

  /** Counts a body that begins, in the moment in which its lease is seen to be held. */
  async #elected(): Promise<Lease | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#lease?.held) {
        this.#bodies++;
        return this.#lease;
      }
      if (this.#ended) return undefined;
      await this.#changed;
    }
  }

  async #stand(options: AcquireOptions): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted && this.#failure === undefined) {
      if (this.#bodies > 0) {
        await this.#changed;
        continue;
      }
      const lease = await this.#seat.stand({ ...options, signal }).catch(passing);
      if (!lease) {
        await sleep(this.#engine.services.clock, RETRY_MS, signal);
        continue;
      }
      this.#lease = lease;
      if (signal.aborted) await lease.release();
      this.#tell();
      await lease.ended;
    }
  }

  #renewNews(): void {
    this.#changed = new Promise((resolve) => {
      this.#tell = () => {
        this.#renewNews();
        resolve();
      };
    });
  }
}
