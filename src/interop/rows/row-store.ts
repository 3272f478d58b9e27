/**
 * Locks that are shared with libraries which keep each as a row of a table: a holder, and the end
 * of its lease.
 *
 * Invariant: a row is written only by a statement that inserts it, that finds its lease over, or
 * that names its holder and finds the lease alive; each commits by itself, and the database locks
 * the row before it looks at the condition. A holder contains the id of its claim, so no two
 * claims are one holder, and reading the row replaces a lost answer.
 * Clocks: ours is the database's. Where the other program takes its own, the two may differ by
 * `clockSkew`. So a row of ours ends that much later than the lease that it stands for, and another
 * row is over that much after its end: neither side takes a lock that the other believes it holds.
 * Late copies: only this process knows its claim. It remembers its releases, and frees a row that
 * a late copy has taken. A statement whose connection broke may be carried out even later: then no
 * program holds the lock until the row ends, and never do two.
 * What breaks it: clocks that differ by more; others that delete or extend a row without naming
 * its holder, as some versions do; a client that reads or writes elsewhere than at one primary.
 */
import { systemClock } from '../../base/clock.ts';
import type { Duration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { keptOnce } from '../../base/single-flight.ts';
import { causesOf } from '../../clients/causes.ts';
import type { SqlDatabase } from '../../clients/sql/clients.ts';
import { checkColumns } from '../../clients/sql/columns.ts';
import { connectionOf, type SqlConnection } from '../../clients/sql/connection.ts';
import { storeErrorOf } from '../../clients/sql/errors.ts';
import type { Piece } from '../../clients/sql/sql.ts';
import { permanentFailure } from '../../contract/errors.ts';
import { EXPIRED, REFUSED } from '../../contract/gone.ts';
import type { Claim, ClaimStatus, HeldStatus, Queue, Store, Traits } from '../../contract/store.ts';
import { each } from '../../stores/batch.ts';
import { OwnTombstones } from '../../stores/own-tombstones.ts';
import { needsOf, type RowLayout } from './layout.ts';
import { ANOTHER_ZONE, type RowClaim, type RowStatements, statementsFor } from './statements.ts';

export interface RowStoreOptions {
  /**
   * The mean pause of a waiting claim between its tries, each from half to one and a half times as
   * long; default 100 ms.
   */
  readonly retry?: Duration;
}

export interface ForeignRowStoreParts {
  readonly layout: RowLayout;
  readonly retryMs: number;
  readonly skewMs: number;
}

const TRAITS: Traits = {
  queue: false,
  tokens: undefined,
  atomicTry: true,
  clock: 'server',
  failover: 'best-effort',
  reach: 'network',
};

/** How MySQL and MariaDB say that there is such a row; other libraries wrap the client's error. */
const DUPLICATE = 1062;

/** A row that was found may be gone when it is looked at; its successor is not, as a rule. */
const TRIES = 3;

interface FoundRow {
  readonly holder: string;
  /** The life left by the column alone; negative if that moment has passed. */
  readonly leftMs: number;
}

export class ForeignRowStore implements Store {
  readonly name: string;
  readonly traits: Traits = TRAITS;
  readonly lineage: string;
  readonly #parts: ForeignRowStoreParts;
  readonly #connection: SqlConnection;
  /** For the table as the first verb finds it. */
  readonly #sql: () => Promise<RowStatements>;
  readonly #released = new OwnTombstones(systemClock());

  /** @param db a pool. */
  constructor(db: SqlDatabase, parts: ForeignRowStoreParts) {
    const { layout } = parts;
    const { name, table } = layout;
    const connection = connectionOf(db);
    if (!connection.single) {
      throw new UsageError(`${name} takes a pool: each of its statements commits by itself.`);
    }
    const look = keptOnce(async () => {
      const offset = await checkColumns(connection, table, needsOf(layout));
      return statementsFor(layout, connection.dialect, offset);
    });
    this.name = name;
    this.lineage = `${name}:${table}`;
    this.#parts = parts;
    this.#connection = connection;
    this.#sql = () => this.#send(look);
  }

  readonly claim: Store['claim'] = (claims) => each(claims, (claim) => this.#claim(claim));

  readonly renew: Store['renew'] = (claims) => each(claims, (claim) => this.#renew(claim));

  readonly release: Store['release'] = (claims, after) => {
    const afterMs = Math.max(0, after?.ms ?? 0);
    return Promise.all(claims.map((claim) => this.#release(claim, afterMs)));
  };

  async inspect(resource: string): Promise<Queue> {
    const { layout } = this.#parts;
    const found = await this.#look(layout.keyOf(resource));
    const leftMs = found ? this.#leftOf(found, +1) : 0;
    if (!found || leftMs <= 0) return { resource, holders: [], waiters: [] };
    const holder = { ...layout.holderOf(found.holder), since: 0 };
    const lease = { number: 0n, kind: 'mutex', permits: 1, ttlMs: leftMs, leftMs } as const;
    return { resource, limit: 1, holders: [{ ...lease, holder }], waiters: [] };
  }

  async #claim(claim: Claim): Promise<ClaimStatus> {
    if (claim.permits !== claim.limit) {
      throw permanentFailure(`A lock in ${this.#parts.layout.table} has one holder at a time.`);
    }
    const before = this.#released.find(claim.id);
    if (before) return before;
    try {
      return await this.#enter(claim);
    } finally {
      // Released while this was under way.
      if (this.#released.find(claim.id)) await this.#free(claim, 0).catch(() => {});
    }
  }

  async #enter(claim: Claim): Promise<ClaimStatus> {
    const { id, ttlMs, queue } = claim;
    const place = this.#placeOf(claim);
    let found: FoundRow | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      if (await this.#take(place, ttlMs)) return this.#released.find(id) ?? held(ttlMs);
      found = await this.#look(place.key);
      if (found?.holder === place.holder) return this.#statusOf(found);
      if (found && this.#leftOf(found, +1) > 0) break;
    }
    if (!queue) return REFUSED;
    const pause = this.#parts.retryMs * (0.5 + Math.random());
    const retryInMs = found ? Math.min(pause, Math.max(1, this.#leftOf(found, +1))) : pause;
    return { state: 'waiting', leftMs: ttlMs, why: 'queue', ahead: 1, retryInMs };
  }

  async #take(place: RowClaim, ttlMs: number): Promise<boolean> {
    const { skewMs, layout } = this.#parts;
    const statements = (await this.#sql()).take(place, this.#endIn(ttlMs), -skewMs - layout.addsMs);
    for (const statement of statements) {
      const count = await this.#write(statement).catch((error) => {
        if (causesOf(error).some(({ errno }) => errno === DUPLICATE)) return 0;
        throw error;
      });
      if (count > 0) return true;
    }
    return false;
  }

  async #renew(claim: Claim): Promise<ClaimStatus> {
    const place = this.#placeOf(claim);
    const { ttlMs } = claim;
    const before = this.#released.find(claim.id);
    if (before) return before;
    if (await this.#update(place, place.holder, this.#endIn(ttlMs))) return held(ttlMs);
    // A client may count only rows that it has changed, and the end may be the same.
    const found = await this.#look(place.key);
    return found?.holder === place.holder ? this.#statusOf(found) : EXPIRED;
  }

  async #release(claim: Claim, afterMs: number): Promise<boolean> {
    const keepMs = claim.ttlMs + afterMs;
    // First, because a copy may be under way.
    if (claim.unanswered || afterMs > 0) this.#released.bury(claim.id, keepMs);
    const freed = await this.#free(claim, afterMs);
    if (!freed) this.#released.bury(claim.id, keepMs);
    return freed;
  }

  /** Whether it was held. */
  async #free(claim: Claim, afterMs: number): Promise<boolean> {
    const { layout, skewMs } = this.#parts;
    const place = this.#placeOf(claim);
    if (layout.stays || afterMs > 0) {
      // What is kept must be so by the fastest clock, and what is free by the slowest, also where
      // the column rounds to the next ms.
      const endMs = afterMs > 0 ? this.#endIn(afterMs) : -1 - skewMs - layout.addsMs;
      return this.#update(place, layout.leavesBehind(claim), endMs);
    }
    const sql = await this.#sql();
    if ((await this.#write(sql.remove(place, this.#endIn(0)))) > 0) return true;
    await this.#write(sql.remove(place));
    return false;
  }

  /** Whether the lease was alive; gives the row this holder and end. */
  async #update(place: RowClaim, holder: string, endMs: number): Promise<boolean> {
    const sql = await this.#sql();
    return (await this.#write(sql.update(place, holder, endMs, this.#endIn(0)))) > 0;
  }

  /** The column's value for a lease of ours that ends this many ms from now. */
  #endIn(ms: number): number {
    return ms + this.#parts.skewMs - this.#parts.layout.addsMs;
  }

  /** The life left of a lease of ours (-1), or of another's (+1). */
  #leftOf({ leftMs }: FoundRow, whose: 1 | -1): number {
    const { layout, skewMs } = this.#parts;
    return leftMs + layout.addsMs + whose * skewMs;
  }

  #statusOf(own: FoundRow): ClaimStatus {
    const leftMs = this.#leftOf(own, -1);
    return leftMs > 0 ? held(leftMs) : EXPIRED;
  }

  #placeOf(claim: Claim): RowClaim {
    const { layout } = this.#parts;
    return { key: layout.keyOf(claim.resource), holder: layout.writes(claim) };
  }

  async #look(key: readonly string[]): Promise<FoundRow | undefined> {
    const { sql, values } = (await this.#sql()).look(key);
    const [row] = await this.#send(() => this.#connection.rows(sql, values));
    if (!row) return undefined;
    return { holder: String(row.holder), leftMs: Number(row.left) };
  }

  #write({ sql, values }: Piece): Promise<number> {
    return this.#send(() => this.#connection.count(sql, values));
  }

  async #send<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { name, table, until } = this.#parts.layout;
      if (causesOf(error).some(({ errno }) => errno === ANOTHER_ZONE)) {
        throw new UsageError(
          `The sessions of this pool have different time zones, and ${until} of ${table} is read` +
            ' in the zone of each. Set one time_zone for all, or make it a datetime(6).',
          { cause: error },
        );
      }
      const page = `node_modules/holdfast/docs/stores/${name}.md`;
      throw storeErrorOf(error, `The table ${table} must be as its library makes it (${page})`);
    }
  }
}

function held(leftMs: number): HeldStatus {
  return { state: 'held', token: 0n, leftMs, waiters: 0 };
}
