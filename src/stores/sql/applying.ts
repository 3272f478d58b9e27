/**
 * Steps of queues, each written onto the row that it was made on.
 *
 * Invariant: a step takes effect with one write, on the condition that the row is still the one
 * that was read; otherwise it is made again, on what is there by then. A lock has one such write of
 * this process under way at a time, with all the steps that waited for the one before, so that a
 * process competes with others only, and never with itself.
 * A row that another session keeps locked delays no steps on other rows: a write of several rows
 * takes the free ones, and only a write of one row waits, for as long as the server lets it. After
 * repeated lost races, one transaction reads and writes the row, in line for its lock; the server
 * ends that if this process stands still in it.
 * What would break it: a reply before the write is known to be done.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { isBlocked } from '../../clients/sql/judge.ts';
import { toText } from '../../clients/sql/name-text.ts';
import { temporaryFailure } from '../../contract/errors.ts';
import type { Claim } from '../../contract/store.ts';
import { lineOf } from '../status-lines.ts';
import type { CallTerms, Lane } from './link.ts';
import {
  type Crowd,
  columnsOf,
  crowdOf,
  type LockColumns,
  type LockRow,
  NO_TAG,
  type RowMoment,
} from './row.ts';

/** Returns what its verb returns; called again after a lost race. */
export type ClaimStep<T, C = Claim> = (claim: C, crowd: Crowd, moment: RowMoment) => T;

/** Makes the steps on what was read, and returns what they have changed. */
type Make = (found: FoundRows) => readonly LockWrite[];

export interface Rows {
  /** The rows of these names that are there. */
  read(names: readonly string[], terms: CallTerms): Promise<FoundRows>;
  /** Reads and writes in one transaction, in line for the rows; returns the names written. */
  exchange(names: readonly string[], make: Make, terms: CallTerms): Promise<readonly string[]>;
  /** Writes those that are as they were read, and notifies; returns the names of these. */
  write(writes: readonly LockWrite[], terms: CallTerms): Promise<readonly string[]>;
}

export interface FoundRows {
  readonly moment: RowMoment;
  readonly rows: readonly LockRow[];
}

export interface LockWrite {
  readonly name: string;
  /** The version that was read; 0 if the row is to be made. */
  readonly rev: number;
  readonly columns: LockColumns;
  readonly wakes: readonly SentWake[];
}

export interface SentWake {
  readonly address: string;
  readonly message: string;
}

export interface How {
  readonly lane: Lane;
  /** When it was asked for: all is sent within the ttl from then on. Default: now. */
  readonly since?: number;
}

interface Task {
  readonly step: (crowd: Crowd, moment: RowMoment) => unknown;
  readonly ttlMs: number;
  readonly lane: Lane;
  readonly since: number;
  /** When its turn came. */
  began: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export const KEPT_BUSY: string =
  'Other sessions kept the row of this lock busy. Look for one that stays idle in a transaction' +
  ' on the tables of Holdfast.';

/** As a share of the ttl: how long others may be quicker. */
const MOVING_PER_TTL = 1 / 4;
/** The same for a row that others keep locked: a heartbeat that fails must not be the last one. */
const LOCKED_PER_TTL = 1 / 6;
/** Bounds that for TTLs above 12 s. */
const LONGEST_LOCKED_MS = 2000;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 30;
/** How often a race is run; after that, this process gets in line for the row. */
const RACES = 3;

export class Applying {
  readonly #rows: Rows;
  readonly #clock: Clock;
  /** The tasks that wait behind those under way, by the names of rows that are being worked on. */
  readonly #waiting = new Map<string, Task[]>();

  constructor(rows: Rows, clock: Clock) {
    this.#rows = rows;
    this.#clock = clock;
  }

  /** Makes a step for each of these; each settles by itself. */
  apply<T, C extends Pick<Claim, 'resource' | 'ttlMs'>>(
    claims: readonly C[],
    step: ClaimStep<T, C>,
    { lane, since = this.#clock.now() }: How,
  ): readonly Promise<T>[] {
    const own = new Map<string, Task[]>();
    const promises = claims.map((claim) => {
      const name = toText(claim.resource);
      return new Promise<T>((resolve, reject) => {
        const began = this.#clock.now();
        const ofClaim: Task['step'] = (crowd, moment) => step(claim, crowd, moment);
        const task = { step: ofClaim, ttlMs: claim.ttlMs, lane, since, began, resolve, reject };
        const line = own.get(name) ?? this.#waiting.get(name);
        if (line) line.push(task);
        else own.set(name, [task]);
      });
    });
    for (const name of own.keys()) this.#waiting.set(name, []);
    if (own.size > 0) void this.#work(own);
    return promises;
  }

  /** Never rejects. */
  async #work(own: Map<string, Task[]>): Promise<void> {
    let lost = 0;
    for (let tries = 0; own.size > 0; tries++) {
      const names = [...own.keys()];
      const alone = lost < RACES ? undefined : names[tries % names.length];
      const asked = alone === undefined ? names : [alone];
      const done = await this.#round(own, asked, alone !== undefined).catch((error: unknown) => {
        if (isBlocked(error)) return undefined;
        for (const name of asked) fail(own.get(name) ?? [], error);
        return asked;
      });
      for (const name of done ?? []) this.#follow(own, name);
      if (done) lost = done.length < asked.length ? lost + 1 : 0;
      else {
        // By chance, so that callers do not retry at the same moment.
        const ms = Math.min(SHORTEST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
        await sleep(this.#clock, ms * (0.5 + this.#clock.random() / 2));
      }
      this.#giveUp(own, lost > 0);
    }
  }

  /** The tasks that waited for this name are next. */
  #follow(own: Map<string, Task[]>, name: string): void {
    const next = this.#waiting.get(name) ?? [];
    if (next.length > 0) {
      for (const task of next) task.began = this.#clock.now();
      own.set(name, next);
      this.#waiting.set(name, []);
    } else {
      own.delete(name);
      this.#waiting.delete(name);
    }
  }

  /** Fails the tasks whose rows have been locked for too long; a row that moves is not. */
  #giveUp(own: Map<string, Task[]>, moves: boolean): void {
    const now = this.#clock.now();
    const patience = (ttlMs: number) => (moves ? ttlMs * MOVING_PER_TTL : lockedMs(ttlMs));
    for (const [name, tasks] of own) {
      const late = tasks.filter(({ began, ttlMs }) => now >= began + patience(ttlMs));
      if (late.length === 0) continue;
      fail(late, temporaryFailure(KEPT_BUSY));
      const left = tasks.filter((task) => !late.includes(task));
      if (left.length === 0) this.#follow(own, name);
      else own.set(name, left);
    }
  }

  /** Returns the names of done tasks. With `inLine`, no other caller changes the row meanwhile. */
  async #round(
    own: ReadonlyMap<string, readonly Task[]>,
    names: readonly string[],
    inLine: boolean,
  ): Promise<readonly string[]> {
    const tasks = names.flatMap((name) => own.get(name) ?? []);
    const [{ lane } = { lane: 'claims' as const }] = tasks;
    const ends = tasks.map(({ since, ttlMs }) => since + ttlMs);
    const terms = { lane, withinMs: Math.min(...ends) - this.#clock.now() };
    let made = new Map<string, Made>();
    const make: Make = ({ moment, rows }) => {
      const found = new Map(rows.map((row) => [row.name, row]));
      const madeOf = (name: string): Made => {
        const at = { row: found.get(name), moment };
        const crowd = crowdOf(at.row, moment);
        const replies = (own.get(name) ?? []).map((task) => attempt(task, crowd, moment));
        return { write: changeOf(name, crowd, at), replies };
      };
      made = new Map(names.map((name) => [name, madeOf(name)]));
      return [...made.values()].flatMap(({ write }) => write ?? []);
    };
    const race = async (): Promise<readonly string[]> => {
      const writes = make(await this.#rows.read(names, terms));
      return writes.length > 0 ? this.#rows.write(writes, terms) : [];
    };
    const written = await (inLine ? this.#rows.exchange(names, make, terms) : race());
    const done = names.filter((name) => !made.get(name)?.write || written.includes(name));
    for (const name of done) for (const settle of made.get(name)?.replies ?? []) settle();
    return done;
  }
}

interface Made {
  /** Undefined if nothing has changed. */
  readonly write?: LockWrite | undefined;
  /** Settle the tasks, once it is written. */
  readonly replies: readonly (() => void)[];
}

/** How long a step waits for a row that others keep locked, in ms. */
export function lockedMs(ttlMs: number): number {
  return Math.min(ttlMs * LOCKED_PER_TTL, LONGEST_LOCKED_MS);
}

interface RowAsRead {
  readonly row: LockRow | undefined;
  readonly moment: RowMoment;
}

/** What steps have changed in the queue of this row; undefined: nothing. */
export function changeOf(
  name: string,
  crowd: Crowd,
  { row, moment }: RowAsRead,
): LockWrite | undefined {
  const before = JSON.stringify(comparable(row));
  const woken = crowd.queue.takeTold();
  const columns = columnsOf(crowd, moment.now);
  const same = woken.length === 0 && JSON.stringify(comparable(columns)) === before;
  if (same) return undefined;
  // One message says it, however often the claim was concerned.
  const wakes = [...new Set(woken)].flatMap((entry): SentWake[] => {
    const [address = '-', tag] = (crowd.tags.get(entry.id) ?? NO_TAG).split(' ');
    if (address === '-') return [];
    const status = crowd.queue.statusOf(entry, moment.now / 1000);
    return [{ address, message: `${tag} ${lineOf(status)}` }];
  });
  return { name, rev: row?.rev ?? 0, columns, wakes };
}

/** What is compared: an empty row says no more than none. */
function comparable(columns: LockColumns | undefined): unknown {
  if (!columns) return null;
  const { last, id, until, waiters, crowd, state, number, kind, permits } = columns;
  if (id === null && state === null) return null;
  return [last, id, state === null && until, waiters, crowd, state, number, kind, permits];
}

/** An error of a step is its task's own. */
function attempt({ step, resolve, reject }: Task, crowd: Crowd, moment: RowMoment): () => void {
  try {
    const value = step(crowd, moment) as never;
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}

function fail(tasks: readonly Task[], error: unknown): void {
  for (const { reject } of tasks) reject(error);
}
