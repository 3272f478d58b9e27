/**
 * The statements on the table of locks, with what they take and return.
 *
 * A process takes a free lock with `take_free`, which makes the row if it is missing; or, if it has
 * taken the row before, with `take_again`, an update by key, which costs the server less. Both take
 * the row on the same conditions, so programs may use either at any time, and where they take
 * nothing, `take` follows: it makes the row, lines up, or says why not.
 * Numbers grow: those of before are not above `last`, or were swept away with an earlier row and
 * are not above `highest`. `take_again` draws the time, or one more than `last`, and takes nothing
 * unless that is above `highest`.
 * What would break it: a condition of `take_free` that `take_again` does not have; a number other
 * than the one that was compared.
 */
import type { Answer } from '../../base/answer.ts';
import { fromText, toText } from '../../clients/sql/name-text.ts';
import { temporaryFailure } from '../../contract/errors.ts';
import type { Claim, ClaimStatus, Kept, RecordTerms } from '../../contract/store.ts';
import { grouped } from '../batch.ts';
import { garbled, statusOf } from '../status-lines.ts';
import type { FoundRows, Rows } from './applying.ts';
import { heldIn, readIn, type TaggedClaim, takenIn, termsOf, textsOf } from './lines.ts';
import type { CallTerms, SqlLink, SqlWire } from './link.ts';

export interface TableParts {
  readonly link: SqlLink;
  readonly maxTtlMs: number;
  readonly fast: boolean;
  /** A list of values, as the database reads one. */
  readonly listOf: (values: readonly (string | number | boolean)[]) => string;
}

interface TakingTerms {
  readonly maxWaiters: number;
  readonly trust: boolean;
  /** How long ago the claims were made, in ms. */
  readonly sinceMs: number;
}

/** How often a loss of data is recorded for one read. */
const TRIES = 3;

/** How many names a process remembers. */
const MOST_NAMES = 1000;
/** To take a free row needs so many of the terms of a claim, the first. */
const FREE = 8;

const CLAIMS = { lane: 'claims' } as const;

export class Table implements Rows {
  readonly link: SqlLink;
  readonly #parts: TableParts;
  /** Names behind whose holder others wait, as far as known. */
  readonly #crowded = new Set<string>();
  /** Names whose rows this process has taken, and which are there, as far as known. */
  readonly #taken = new Set<string>();

  constructor(parts: TableParts) {
    this.#parts = parts;
    this.link = parts.link;
  }

  /** No claim is known to wait for this lock: the quicker statements may do. */
  isQuiet(resource: string): boolean {
    return !this.#crowded.has(toText(resource));
  }

  /** Takes the row if it is free and no claim waits for it; else undefined. */
  takeFree(asked: TaggedClaim): Answer<ClaimStatus | undefined> {
    const { resource, ttlMs } = asked.claim;
    const name = toText(resource);
    const call = this.#taken.has(name) ? 'take_again' : 'take_free';
    const args = [...termsOf(asked, 1).slice(0, FREE).map(String), ...this.#known];
    return this.link.call(call, args, { ...CLAIMS, withinMs: ttlMs }).map(([number]) => {
      if (number !== undefined) note(this.#taken, name);
      // The row may be gone.
      else this.#taken.delete(name);
      return number === undefined ? undefined : statusOf(Number(number), ttlMs);
    });
  }

  /**
   * Takes free rows and lines up behind holders; returns the outcome for the claims of the locks
   * where it succeeded. The claims of a lock are in their order.
   */
  async take(
    asked: readonly TaggedClaim[],
    { maxWaiters, trust, sinceMs }: TakingTerms,
  ): Promise<ReadonlyMap<string, ClaimStatus>> {
    const runs = grouped(asked, ({ claim }) => toText(claim.resource));
    const [[first] = [], ...more] = runs.values();
    if (!first) return new Map();
    const withinMs = shortest(asked.map(({ claim }) => claim)) - sinceMs;
    const rows = [...runs.values()].flatMap((run) => run.map((each, i) => termsOf(each, i + 1)));
    const args = [...this.#lists(rows), trust ? 't' : 'f', ...this.#known, String(maxWaiters)];
    const call = more.length > 0 ? 'take_all' : 'take';
    const lines = await this.link.call(call, args, { ...CLAIMS, withinMs });
    if (asked.length === 1) this.#noteCrowd(toText(first.claim.resource), lines);
    return new Map(lines.flatMap((line) => takenIn(line, runs)));
  }

  /** From what a statement says of one claim: whether it took the row, and none waits behind it. */
  #noteCrowd(name: string, [line = '']: readonly string[]): void {
    if (line.split(' ', 3)[2] === '0') this.#crowded.delete(name);
    else note(this.#crowded, name);
  }

  /** A list of the nth values of all rows, for each n. */
  #lists(rows: readonly (readonly (string | number | boolean)[])[]): string[] {
    return (rows[0] ?? []).map((_, n) => this.#parts.listOf(rows.map((row) => row[n] ?? '')));
  }

  get #known(): string[] {
    const { maxTtlMs, fast } = this.#parts;
    return [String(maxTtlMs * 1000), String(fast)];
  }

  async beat(claims: readonly Claim[]): Promise<ReadonlyMap<string, ClaimStatus>> {
    if (claims.length === 0) return new Map();
    const rows = claims.map((claim) => [toText(claim.resource), claim.id, Math.ceil(claim.ttlMs)]);
    const terms = { lane: 'heartbeats', withinMs: shortest(claims) } as const;
    const lines = await this.link.call('beat', this.#lists(rows), terms);
    const ttls = new Map(claims.map(({ id, ttlMs }) => [id, ttlMs]));
    return new Map(lines.map((line) => heldIn(line, ttls)));
  }

  /** True if the claim held the row and is gone now, and none waited for it. */
  leaveFree({ resource, id, ttlMs }: Claim): Answer<boolean> {
    const terms = { lane: 'releases', withinMs: ttlMs } as const;
    const asked = this.link.call('leave_free', [toText(resource), id], terms);
    return asked.map((ids) => ids.length > 0);
  }

  /** Returns the ids of those that held and are gone now. */
  async leave(claims: readonly Claim[]): Promise<ReadonlyMap<string, true>> {
    const rows = claims.map(({ resource, id, secret = '' }) => [toText(resource), id, secret]);
    const [only, ...more] = rows;
    if (!only) return new Map();
    const one = more.length === 0;
    const args = one ? only : this.#lists(rows);
    const terms = { lane: 'releases', withinMs: shortest(claims) } as const;
    const ids = await this.link.call(one ? 'leave' : 'leave_all', args, terms);
    // If none was known to wait, `leave_free` did nothing.
    if (one) note(this.#crowded, String(only[0]));
    return new Map(ids.map((id) => [id, true]));
  }

  readonly read: Rows['read'] = (names, terms) =>
    this.#settled(terms, async () =>
      readIn(await this.link.call('read', this.#named(names), terms)),
    );

  readonly exchange: Rows['exchange'] = (names, make, terms) => {
    const work = async (wire: SqlWire): Promise<readonly string[] | undefined> => {
      let open = true;
      try {
        const found = readIn(await wire.call('lock', this.#named(names)));
        const writes = found && make(found);
        if (!writes?.length) return writes && [];
        const written = await wire.call('write_locked', textsOf(writes));
        open = false;
        return written;
      } finally {
        if (open) await wire.call('rollback', []).catch(() => {});
      }
    };
    return this.#settled(terms, () => this.link.exchange(work, terms));
  };

  /** Asks again once a loss of data is recorded, or what this program has to say. */
  async #settled<T>(terms: CallTerms, ask: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await ask();
      if (found) return found;
      await this.link.call('settle', [], terms);
    }
    throw temporaryFailure('The database forgets at once what is written about its history.');
  }

  #named(names: readonly string[]): string[] {
    return [this.#parts.listOf(names), ...this.#known];
  }

  readonly write: Rows['write'] = (writes, terms) =>
    this.link.call(writes.length === 1 ? 'write' : 'write_all', textsOf(writes), terms);

  /**
   * Keeps a record: with `rev`, if the row is still that; else if the claim holds it plainly. The
   * statement locks the row, so that no other claim holds before this is committed. Two records
   * that are over go with each that comes, so there are never many more than are alive.
   */
  async keep(
    { resource, id, ttlMs }: Claim,
    rev: number,
    { text, ms }: RecordTerms,
  ): Promise<boolean> {
    const args = [toText(resource), id, String(rev), text, String(ms)];
    const kept = await this.link.call('keep', args, { ...CLAIMS, withinMs: ttlMs });
    return kept.length > 0;
  }

  async recall(resource: string): Promise<Kept | undefined> {
    const [line] = await this.link.call('recall', [toText(resource)], CLAIMS);
    if (line === undefined) return undefined;
    const space = line.indexOf(' ');
    if (!(space > 0)) throw garbled(line);
    return { text: fromText(line.slice(space + 1)), leftMs: Number(line.slice(0, space)) };
  }

  /** Rows that have a claim, or may, in the order of their names, from this one on. */
  async names(from: string, most: number): Promise<FoundRows> {
    const lines = await this.link.call('names', [from, String(most)], CLAIMS);
    return readIn(lines) ?? { moment: { now: 0, openAt: 0, highest: 0 }, rows: [] };
  }
}

/** Forgets the others where there are too many: that costs time, and nothing else. */
function note(names: Set<string>, name: string): void {
  if (names.size >= MOST_NAMES && !names.has(name)) names.clear();
  names.add(name);
}

function shortest(claims: readonly Claim[]): number {
  return Math.min(...claims.map(({ ttlMs }) => ttlMs));
}
