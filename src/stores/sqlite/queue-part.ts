/**
 * The part of a queue that a step looks at, read from its rows as a value, and written back.
 *
 * Invariant: a step on the part changes what the same step on the whole queue would change. The
 * rule looks at the holders, at the waiters from the front up to the first that does not fit, and
 * at the claims that the step is about. So these are read, and all other waiters are only counted.
 * Whether the front was large enough shows afterwards: the step has looked no further if the last
 * of the front, the `edge`, still waits. If it does not, nothing is written, and the step is done
 * again on a larger part. A claim behind the edge watches the edge in place of the claim before it:
 * until that one has died, nothing behind it can be admitted either.
 * Nothing is kept from one transaction to the next: rows are read and written under the write lock,
 * so no step stands on a queue that another process has changed meanwhile.
 * The row of a dead holder stays in the file until a claim has learned of it. A row that was left
 * free (quiet.ts) is no claim, and goes when one enters.
 * What would break it: reading before the write lock is taken, a step that does anything but change
 * the queue, or a rule that looks past a waiter that does not fit.
 */
import type { SqliteStatement } from '../../clients/sqlite/connection.ts';
import { ClaimQueue } from '../../queue/queue.ts';
import type { Entry, Tombstone } from '../../queue/state.ts';
import {
  ADDRESS_LENGTH,
  addressIn,
  type ClaimRow,
  changingOf,
  fromGone,
  isAsRead,
  isLeft,
  isSound,
  originOf,
  toEntry,
  toGone,
  toUs,
} from './rows.ts';

const CHANGING = 'kind, permits, expires, admitted, told, sealed, took, took_seq';

const COLUMNS = `place, seq, id, lim, ttl, origin, ${CHANGING}`;

/**
 * 1 to read holders, now, resource, how many waiters, what the match takes, resource. The rows are
 * one JSON text, because bindings take longer to make objects than SQLite takes to read.
 */
const readWith = (match: string): string => `SELECT
  (SELECT base FROM holdfast_meta) AS base, max(seq) AS last,
  json_group_array(json_array(place, seq, id, lim, ttl,
    iif(?, origin, substr(origin, 1, ${ADDRESS_LENGTH})), ${CHANGING})) FILTER (WHERE near) AS rows,
  count(*) FILTER (WHERE NOT near AND expires > ?) AS leftOut
  FROM (SELECT ${COLUMNS}, (
      place <= ifnull((SELECT place FROM holdfast_claim WHERE resource = ? AND admitted = 0
        ORDER BY place LIMIT 1 OFFSET ?), ${Number.MAX_SAFE_INTEGER})
      OR ${match}
    ) AS near FROM holdfast_claim WHERE resource = ? ORDER BY place)`;

/** With their parameters in the order of the question marks. */
export const PART_SQL: Readonly<Record<PartSql, string>> = {
  /** Id: two thirds of the time that a list of one takes. */
  readFor: readWith('id = ?'),
  /** JSON [id]. */
  readForAll: readWith('id IN (SELECT value FROM json_each(?))'),
  /** Id. */
  tombstone: 'SELECT why, until FROM holdfast_tombstone WHERE id = ?',
  /** Resource, and the row. */
  enter: `INSERT INTO holdfast_claim (resource, ${COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
  /** Values that change, resource, place. */
  change: `UPDATE holdfast_claim SET (${CHANGING}) = (?,?,?,?,?,?,?,?)
    WHERE resource = ? AND place = ?`,
  /** Resource, place. */
  remove: 'DELETE FROM holdfast_claim WHERE resource = ? AND place = ?',
  /** Id, why, until. */
  bury: `INSERT INTO holdfast_tombstone (id, why, until) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET why = excluded.why, until = excluded.until`,
};

type PartSql = 'readFor' | 'readForAll' | 'tombstone' | 'enter' | 'change' | 'remove' | 'bury';
type PartStatements = Readonly<Record<PartSql, SqliteStatement>>;

export interface Extent {
  /** The text of its resource. */
  readonly name: string;
  /** In µs. */
  readonly now: number;
  /** The claims that a step is about. */
  readonly ids: readonly string[];
  /** How many waiters to read from the front, and one more. */
  readonly front: number;
  /** Whether to read the holders, which are for people. */
  readonly holders: boolean;
}

export class QueuePart {
  readonly queue: ClaimQueue;
  /** Numbers count from it. */
  readonly base: number;
  readonly #extent: Extent;
  readonly #sql: PartStatements;
  readonly #rows: ReadonlyMap<Entry, ClaimRow>;
  readonly #tombstones: ReadonlyMap<string, Tombstone>;
  readonly #edge: Entry | undefined;
  /** A claim has left its row to the next. */
  readonly #isFree: boolean;

  constructor(sql: PartStatements, extent: Extent) {
    const { name, ids, now, holders, front } = extent;
    const [only, more] = ids;
    const alone = only !== undefined && more === undefined;
    const [read, match] = alone ? [sql.readFor, only] : [sql.readForAll, JSON.stringify(ids)];
    const [found] = read.all(holders ? 1 : 0, now, name, front, match, name) as [FoundPart];
    const rows = (JSON.parse(found.rows) as ClaimRow[]).filter((row) => {
      const sound = isSound(row, now);
      if (!sound) sql.remove.run(name, row[0]);
      return sound;
    });
    this.#rows = new Map(rows.filter((row) => !isLeft(row)).map((row) => [toEntry(row), row]));
    this.#isFree = this.#rows.size < rows.length;
    const claims = [...this.#rows.keys()];
    this.#edge = claims.filter(({ admitted }) => !admitted)[front];
    const alive = new Set(claims.filter((each) => each.expiresAt > now / 1000).map(({ id }) => id));
    const gone = ids.filter((id) => !alive.has(id));
    this.#tombstones = new Map(gone.flatMap((id) => tombstoneOf(sql, id)));
    const leftOut = this.#edge && { count: found.leftOut, after: this.#edge.number };
    const last = BigInt(found.last ?? 0);
    this.queue = new ClaimQueue({ last, claims, tombstones: this.#tombstones, leftOut });
    this.base = found.base;
    this.#extent = extent;
    this.#sql = sql;
  }

  /** True if a step has looked at nothing that was left out. */
  get isEnough(): boolean {
    const edge = this.#edge;
    return !edge || (this.queue.find(edge.id) === edge && !edge.admitted);
  }

  /** Where the process of this claim listens; undefined for a new claim. */
  addressOf(entry: Entry): string | undefined {
    const row = this.#rows.get(entry);
    return row && addressIn(row);
  }

  /** Writes what a step has changed; `address` is that of new claims. */
  write(address: string): void {
    const { name, now } = this.#extent;
    const { queue } = this;
    if (this.#isFree && queue.size > 0) this.#sql.remove.run(name, 0);
    for (const [entry, row] of this.#rows) {
      const left = queue.find(entry.id) !== entry;
      if (left && queue.unfinished?.token !== entry.number) {
        this.#sql.remove.run(name, row[0]);
        continue;
      }
      if (left) entry.expiresAt = Math.min(entry.expiresAt, now / 1000);
      const changing = changingOf(entry);
      if (!isAsRead(row, changing)) this.#sql.change.run(...changing, name, row[0]);
    }
    for (const entry of queue.claims) {
      if (this.#rows.has(entry)) continue;
      const { id, limit, ttlMs, holder } = entry;
      const seq = Number(entry.number);
      const values = [seq, seq, id, limit, toUs(ttlMs), originOf(address, holder)] as const;
      this.#sql.enter.run(name, ...values, ...changingOf(entry));
    }
    for (const [id, tombstone] of queue.state.tombstones) {
      if (this.#tombstones.get(id) === tombstone) continue;
      this.#sql.bury.run(id, fromGone(tombstone.status), toUs(tombstone.until));
    }
  }
}

interface FoundPart {
  readonly base: number;
  readonly last: number | null;
  /** `Row[]` as JSON. */
  readonly rows: string;
  readonly leftOut: number;
}

function tombstoneOf(sql: PartStatements, id: string): [string, Tombstone][] {
  const found = sql.tombstone.all(id) as { readonly why: string; readonly until: number }[];
  return found.map(({ why, until }) => [id, { status: toGone(why), until: until / 1000 }]);
}
