/**
 * One way to send a statement through any client that the caller has.
 *
 * Statements are written once, with `?` for values and `"` around names, which are never taken from
 * outside unchecked (sql.ts); here they become the dialect's. Values are always bound, on
 * the wire wherever the client can do so: text made by a client from a value is wrong where the
 * server reads backslashes differently.
 * A lock taken outside of a transaction is gone when the statement ends. So a client that cannot be
 * in one is refused before anything is sent, and where only the server knows, the server is asked.
 * Conversely, a pool must commit each write itself. A connection of MySQL may not (autocommit off),
 * and nothing could commit the write later: so each pool is asked once.
 */

import { UsageError } from '../../base/errors.ts';
import { type Client, clientOf } from './client-of.ts';
import type { SqlDatabase, SqlTransaction } from './clients.ts';
import { toTyped } from './errors.ts';
import { boundFor, type Dialect, inDialect, type Row } from './sql.ts';

/** Pools that are known to commit each statement. */
const committing = new WeakSet<object>();

export class Connection {
  readonly dialect: Dialect;
  /** Each statement is a transaction of its own, for certain. */
  readonly single: boolean;
  readonly #client: Client;
  readonly #db: object;
  #begun: boolean;

  /** @param db the object that the client wraps. */
  constructor(client: Client, db: object) {
    this.dialect = client.dialect;
    this.single = client.place === 'pool';
    this.#client = client;
    this.#db = db;
    this.#begun = client.place === 'transaction';
  }

  /** @throws TransactionError, UsageError if there is no such table or column. */
  async rows(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#send('rows', sql, values)) as Row[];
  }

  /** The number of rows that it wrote. */
  async count(sql: string, values: readonly unknown[] = []): Promise<number> {
    return Number(await this.#send('count', sql, values));
  }

  async inTransaction(): Promise<boolean> {
    if (this.#client.place !== 'connection') return this.#begun;
    try {
      return await this.#client.begun();
    } catch (error) {
      throw toTyped(error, this.dialect, 'failed');
    }
  }

  /** @throws UsageError outside of a transaction. */
  async mustHaveBegun(): Promise<void> {
    this.#begun = await this.inTransaction();
    if (!this.#begun) throw outside('No transaction was begun on this connection.');
  }

  async #send(what: 'rows' | 'count', sql: string, values: readonly unknown[]): Promise<unknown> {
    const { dialect } = this;
    const bound = values.map((value) => boundFor(dialect, value));
    try {
      if (this.single && dialect === 'mysql') await this.#mustCommit();
      return await this.#client[what](inDialect(dialect, sql), bound);
    } catch (error) {
      throw toTyped(error, dialect, this.#begun ? 'failed' : 'unknown');
    }
  }

  /** @throws UsageError if the pool does not commit. */
  async #mustCommit(): Promise<void> {
    if (committing.has(this.#db)) return;
    const [row] = (await this.#client.rows('SELECT @@autocommit AS `commits`', [])) as Row[];
    if (Number(row?.commits) !== 1) {
      throw new UsageError(
        'The connections of this pool do not commit statements by themselves (autocommit is off).' +
          ' Begin a transaction, or switch autocommit on.',
      );
    }
    committing.add(this.#db);
  }
}

/** @throws UsageError if `db` is no client of these packages. */
export function connectionOf(db: SqlDatabase): Connection {
  return new Connection(clientOf(db), db);
}

/**
 * The connection of a transaction; `mustHaveBegun` asks where only the server knows if it is one.
 * @throws UsageError for a pool or a database.
 */
export function transactionOf(tx: SqlTransaction): Connection {
  const client = clientOf(tx);
  if (client.place === 'pool') throw outside('Give a transaction, not a pool or a database.');
  return new Connection(client, tx);
}

function outside(what: string): UsageError {
  return new UsageError(`${what} A lock ends with its transaction, so take it inside one.`);
}
