/**
 * As much of a queue as a step looks at, read from its rows as a value, and written back.
 *
 * Invariant: a step on the part has the outcome of the same step on the whole queue. The rule looks
 * at the holders; at the waiters from the front up to the first that does not fit; at the claims
 * that the step is about; and at the nearest live claim before each of those. So these are read:
 * every row up to the `edge`, a waiter some places down the queue, and behind it the named claims,
 * the last, and the nearest live one before each. All others are only counted. Whether the edge was
 * far enough down shows afterwards: the step has looked no further if the edge still waits. If it
 * does not, nothing is written, and the step is done again on a larger part.
 * Nothing is kept from one transaction to the next: rows are read and written under the write lock,
 * so no step stands on a queue that another process has changed meanwhile.
 * A dead holder of which no claim has learned stays in the file as its row.
 * What would break it: reading before the write lock is taken, a step that does anything but change
 * the queue, or a rule that looks past a waiter that does not fit.
 */
import type { Entry } from '../../queue/entry.ts';
import { ClaimQueue } from '../../queue/queue.ts';
import type { Tombstone } from '../../queue/state.ts';
import { changingOf, fromGone, isAsRead, type Row, toEntry, toGone, toUs } from './rows.ts';
import type { Statements } from './statements.ts';

/** What to read of which queue. */
export interface Extent {
  /** The text of its resource. */
  readonly name: string;
  /** In µs. */
  readonly now: number;
  /** The claims that a step is about. */
  readonly ids: readonly string[];
  /** Where they are, as far as it is known. */
  readonly seqs: readonly number[];
  /** How many waiters to read from the front. */
  readonly front: number;
  /** How far to count those that are left out. */
  readonly counted: number;
  /** Whether to read the holders, which are for people. */
  readonly holders: boolean;
}

export class QueuePart {
  readonly queue: ClaimQueue;
  /** Numbers count from it. */
  readonly base: number;
  readonly #extent: Extent;
  readonly #rows: readonly Row[];
  /** The same as entries of the queue, for as long as they are in it. */
  readonly #claims: readonly Entry[];
  readonly #tombstones: ReadonlyMap<string, Tombstone>;
  /** The last waiter in front of those that are left out. */
  readonly #edge: Entry | undefined;

  constructor(sql: Statements, extent: Extent) {
    const { name, ids, now, holders, front } = extent;
    const [found] = sql.read.all(holders ? 1 : 0, name, name, front) as [Found];
    const rows = JSON.parse(found.rows) as Row[];
    const claims = rows.map(toEntry);
    if (claims.filter(isWaiting).length > front) {
      this.#edge = claims.at(-1);
      const behind = readBehind(sql, extent, claims);
      rows.push(...behind);
      claims.push(...behind.map(toEntry));
    }
    const alive = idsOf(claims.filter(({ expiresAt }) => expiresAt > now / 1000));
    const gone = ids.filter((id) => !alive.has(id));
    this.#tombstones = new Map(gone.flatMap((id) => tombstoneOf(sql, id)));
    const last = claims.at(-1)?.number ?? 0n;
    this.queue = new ClaimQueue({ last, claims, tombstones: this.#tombstones });
    this.base = found.base;
    this.#extent = extent;
    this.#rows = rows;
    this.#claims = claims;
  }

  /** True if a step has looked at nothing that was left out. */
  get isEnough(): boolean {
    const edge = this.#edge;
    return !edge || (this.queue.find(edge.id) === edge && !edge.admitted);
  }

  /** Where the process of this claim listens; undefined for a new claim. */
  addressOf(entry: Entry): string | undefined {
    return this.#rows[this.#claims.indexOf(entry)]?.[ADDRESS];
  }

  /** Writes what a step has changed; `address` is that of new claims. */
  write(sql: Statements, address: string): void {
    const { name, now } = this.#extent;
    const { queue } = this;
    for (const [i, entry] of this.#claims.entries()) {
      const row = this.#rows[i] as Row;
      const [seq] = row;
      const left = queue.find(entry.id) !== entry;
      if (left && queue.unfinished?.token !== entry.number) {
        sql.remove.run(name, seq);
        continue;
      }
      if (left) entry.expiresAt = Math.min(entry.expiresAt, now / 1000);
      const changing = changingOf(entry);
      if (!isAsRead(row, changing)) sql.change.run(...changing, name, seq);
    }
    const last = this.#claims.at(-1)?.number ?? 0n;
    for (const entry of queue.claims) {
      if (entry.number <= last) continue;
      const { number, id, limit, ttlMs, holder } = entry;
      const values = [Number(number), id, limit, toUs(ttlMs), address] as const;
      sql.enter.run(name, ...values, JSON.stringify(holder), ...changingOf(entry));
    }
    for (const [id, tombstone] of queue.state.tombstones) {
      if (this.#tombstones.get(id) === tombstone) continue;
      sql.bury.run(id, fromGone(tombstone.status), toUs(tombstone.until));
    }
  }
}

const ADDRESS = 4;

interface Found {
  readonly base: number;
  /** `Row[]` as JSON. */
  readonly rows: string;
}

function isWaiting({ admitted }: Entry): boolean {
  return !admitted;
}

function idsOf(entries: readonly Entry[]): Set<string> {
  return new Set(entries.map(({ id }) => id));
}

function tombstoneOf(sql: Statements, id: string): [string, Tombstone][] {
  const found = sql.tombstone.all(id) as { readonly why: string; readonly until: number }[];
  return found.map(({ why, until }) => [id, { status: toGone(why), until: until / 1000 }]);
}

/** What a step looks at behind the last of those in front. */
function readBehind(sql: Statements, extent: Extent, front: readonly Entry[]): readonly Row[] {
  const { name, ids, now, counted } = extent;
  const edge = Number(front.at(-1)?.number);
  const waiters = front.filter(isWaiting).length;
  const here = idsOf(front);
  const missing = ids.filter((id) => !here.has(id));
  const seqs = extent.seqs.filter((seq) => seq > edge);
  const read = (lookFor: readonly string[]): readonly Row[] => {
    const named = [name, JSON.stringify(seqs), lookFor.length, name, edge] as const;
    const chosen = [...named, JSON.stringify(lookFor), name, name, now] as const;
    const counting = [waiters, name, edge, now, counted, name, edge] as const;
    const [found] = sql.readBehind.all(...chosen, ...counting) as [Found];
    return JSON.parse(found.rows) as Row[];
  };
  if (seqs.length > 0) {
    const behind = read([]);
    const found = new Set(behind.map(([, id]) => id));
    if (missing.every((id) => found.has(id))) return behind;
  }
  return missing.length > 0 ? read(missing) : [];
}
