/** Who stands for an election in this process, where too many who lead at once are seen at once. */

import { once } from 'node:events';
import { isLockError, type Lease, type Locks, type Member } from 'holdfast';
import { type Candidate, createElection, type ObservedStandings } from 'holdfast/election';
import { expect } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Bed, LONG_TTL_MS, type Place, type StoreOptions } from './bed.ts';

export interface Stand {
  readonly at?: Place;
  /** It dies within a test when it is not heard of; otherwise it lives as long as the test. */
  readonly mortal?: boolean;
}

interface Led {
  readonly label: string;
  readonly lease: Lease;
}

/** Nobody dies of a machine that stands still for a second, and a few lives fit into a test. */
export const MORTAL_TTL_MS: number = paced(3000);

/** Tests wait for what is observed. */
const OBSERVED_EVERY_MS = 50;

export class Race<Options extends StoreOptions, At extends Place> {
  readonly name: string = 'office';
  readonly server: At;
  readonly seats: number;
  /** In the order in which they began. */
  readonly terms: Led[] = [];
  readonly observer: Observer;
  readonly #bed: Bed<Options, At>;
  /** What must not happen, in words. */
  readonly #violations: string[] = [];
  readonly #candidates = new Set<Candidate>();
  readonly #campaigns: Promise<void>[] = [];

  constructor(bed: Bed<Options, At>, server: At, seats = 1) {
    this.#bed = bed;
    this.server = server;
    this.seats = seats;
    this.observer = this.observe(server);
  }

  /** It has its place in the queue. */
  async stand(label: string, options: Stand = {}): Promise<Candidate> {
    const election = createElection(this.#locks(options), this.name, { seats: this.seats });
    const candidate = election.campaign({ label });
    this.#candidates.add(candidate);
    this.#campaigns.push(this.#lead(label, candidate).catch(closed));
    await until(`did ${label} stand`, async () => this.observer.now.includes(label));
    return candidate;
  }

  observe(at: Place): Observer {
    // The first look has a third of the ttl, and is waited for by all tests at once.
    const election = createElection(this.#locks({ at }), this.name);
    const aborter = new AbortController();
    const { signal } = aborter;
    const observer = new Observer(election.observe({ every: OBSERVED_EVERY_MS, signal }));
    const close = async (): Promise<void> => {
      aborter.abort();
      await observer.over;
    };
    this.#bed.use({ close });
    return observer;
  }

  /** These have led, in this order, and nobody else. */
  async led(...labels: readonly string[]): Promise<void> {
    const all = (): string => this.terms.map(({ label }) => label).join();
    await until(`led ${labels}`, async () => all() === labels.join()).catch((error: unknown) => {
      throw new Error(`Instead led ${all()}; ${this.observer.now}`, { cause: error });
    });
    expect(this.#violations).toEqual([]);
  }

  /** Everybody resigns, and nothing stays. */
  async leave(): Promise<void> {
    await Promise.all([...this.#candidates].map((candidate) => candidate.resign()));
    await Promise.all(this.#campaigns);
    expect(this.#violations).toEqual([]);
    await this.#bed.end(this.server);
  }

  #locks({ at = this.server, mortal = false }: Stand): Locks {
    const store = this.#bed.store(at, { maxTtl: LONG_TTL_MS } as Options);
    return this.#bed.locksOn(store, mortal ? MORTAL_TTL_MS : LONG_TTL_MS);
  }

  async #lead(label: string, candidate: Candidate): Promise<void> {
    for await (const { lease, signal } of candidate) {
      this.#see({ label, lease });
      if (!signal.aborted) await once(signal, 'abort');
    }
  }

  /** Nobody but candidates of this process grants anything, so it is seen when a term begins. */
  #see(term: Led): void {
    const leaders = [...this.#candidates].filter(({ state }) => state === 'leader');
    if (leaders.length > this.seats) this.#violations.push(`${term.label} is one too many`);
    const last = this.terms.at(-1);
    // Of several seats the news may come in another order.
    if (this.seats === 1 && last && term.lease.token <= last.lease.token) {
      this.#violations.push(`the token of ${term.label} did not grow`);
    }
    this.terms.push(term);
  }
}

/** A test that fails leaves without resigning. */
function closed(error: unknown): void {
  if (!isLockError(error, 'CLOSED')) throw error;
}

/** What somebody was told who does not stand. */
export class Observer {
  /** Each as `leaders|standbys`, by their labels. */
  readonly told: string[] = [];
  latest: ObservedStandings = { leaders: [], standbys: [], missed: false };
  readonly over: Promise<void>;
  #failure: unknown;

  constructor(standings: AsyncIterable<ObservedStandings>) {
    this.over = this.#listen(standings).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  get now(): string {
    return this.told.at(-1) ?? '';
  }

  async sees(standings: string): Promise<void> {
    const seen = until(`saw ${standings}`, async () => {
      if (this.#failure !== undefined) throw this.#failure;
      return this.now === standings;
    });
    await seen.catch((error: unknown) => {
      throw new Error(`Instead it saw ${this.told.join(', ')}`, { cause: error });
    });
  }

  async #listen(all: AsyncIterable<ObservedStandings>): Promise<void> {
    for await (const standings of all) {
      this.latest = standings;
      this.told.push(`${labels(standings.leaders)}|${labels(standings.standbys)}`);
    }
  }
}

function labels(members: readonly Member[]): string {
  return members.map(({ holder }) => holder.label).join(' ');
}
