/**
 * One way to send a statement through any client that the caller has.
 *
 * Statements are written once (sql.ts), and become the dialect's here. Values are always bound, on
 * the wire wherever the client can do so: text made by a client from a value is wrong where the
 * server reads backslashes differently.
 * A lock taken outside of a transaction is gone when the statement ends. So a client that cannot be
 * in one is refused before anything is sent, and where only the server knows, the server is asked.
 * Conversely, a pool must commit each write itself, and one of its connections may not: it was
 * given back inside a transaction, or autocommit is off. So a write through a pool counts if its
 * reply says that no transaction is open; else it is rolled back, with what was left open, that
 * connection ends, and the write is sent on another. What would break it: a client whose replies do
 * not say so (postgres.js, Kysely, two functions; pg before 8.17). Of those, MySQL's are asked for
 * autocommit once.
 */

import { UsageError } from '../../base/errors.ts';
import { Warnings } from '../warnings.ts';
import type { BorrowedClient, Client } from './client.ts';
import { clientOf } from './client-of.ts';
import type { SqlDatabase, SqlTransaction } from './clients.ts';
import { TransactionError, toTyped } from './errors.ts';
import { type Bound, boundFor, type Dialect, inDialect, type Row } from './sql.ts';

/** Pools that are known to commit each statement. */
const committing = new WeakSet<object>();

/** Adapters whose counts are known to be numbers. */
const counting = new WeakSet<object>();

const warnings = new Warnings();

/** How many connections in a row may have been left in a transaction. */
const MOST_LEFT_OPEN = 100;

export class SqlConnection {
  readonly dialect: Dialect;
  /** Each statement is a transaction of its own, for certain. */
  readonly single: boolean;
  readonly #client: Client;
  readonly #db: object;
  readonly #why: string;
  #begun: boolean;

  /** @param db the object that the client wraps; `why` says why it must be in a transaction. */
  constructor(client: Client, db: object, why = '') {
    this.dialect = client.dialect;
    this.single = client.place === 'pool';
    this.#client = client;
    this.#db = db;
    this.#why = why;
    this.#begun = client.place === 'transaction';
  }

  /** @throws TransactionError, UsageError if there is no such table or column. */
  async rows(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#send('rows', sql, values)) as Row[];
  }

  async count(sql: string, values: readonly unknown[] = []): Promise<number> {
    if (this.#client.custom && this.single && !counting.has(this.#db)) {
      const trial = trialOf(sql, values);
      if (trial) {
        await this.#send('count', ...trial);
        counting.add(this.#db);
      }
    }
    return Number((await this.#send('count', sql, values)) ?? 0);
  }

  async inTransaction(): Promise<boolean> {
    const { place, begun } = this.#client;
    return place === 'connection' && begun ? this.#asked(begun) : this.#begun;
  }

  /** @throws UsageError outside of a transaction. */
  async mustHaveBegun(): Promise<void> {
    this.#begun = await this.inTransaction();
    if (!this.#begun) throw new UsageError(`No transaction was begun here. ${this.#why}`);
  }

  async #send(what: 'rows' | 'count', sql: string, values: readonly unknown[]): Promise<unknown> {
    const { dialect } = this;
    const bound = values.map((value) => boundFor(dialect, value));
    const text = inDialect(dialect, sql);
    if (this.#client.borrow) return this.#sendAlone(what, text, bound);
    try {
      if (this.single && dialect === 'mysql') await this.#mustCommit();
      return await this.#client[what](text, bound);
    } catch (error) {
      throw toTyped(error, dialect, this.#begun ? 'failed' : 'unknown');
    }
  }

  /** On a connection of the pool that is in no transaction. */
  async #sendAlone(what: 'rows' | 'count', sql: string, bound: Bound[]): Promise<unknown> {
    for (let left = 0; left < MOST_LEFT_OPEN; left += 1) {
      const one = await this.#asked(this.#client.borrow as () => Promise<BorrowedClient>);
      const sent = await this.#sendOn(one, () => one[what](sql, bound));
      if (sent) return sent.answer;
      warnings.warn('HOLDFAST_LEFT_OPEN', LEFT_OPEN);
    }
    throw new TransactionError(LEFT_OPEN, { reason: 'aborted', retryable: true });
  }

  /** Undefined, and the connection is over, if it had been left in a transaction. */
  async #sendOn(
    one: BorrowedClient,
    send: () => PromiseLike<unknown>,
  ): Promise<{ readonly answer: unknown } | undefined> {
    let answer: unknown;
    try {
      answer = await send();
    } catch (error) {
      one.giveBack(true);
      const typed = toTyped(error, this.dialect, 'unknown');
      // An earlier statement of a transaction that was left open had failed.
      if ((typed as Partial<TransactionError>).reason === 'aborted') return undefined;
      throw typed;
    }
    const state = one.state() ?? 'idle';
    if (state === 'idle') {
      one.giveBack(false);
      return { answer };
    }
    await one.end();
    if (state === 'manual') throw manual();
    // MySQL 8 does not report an autocommit that is off for all.
    if (this.dialect === 'mysql') await this.#mustCommit();
    return undefined;
  }

  /** What the client says where nothing is written, so that a failure leaves nothing unknown. */
  async #asked<T>(ask: () => PromiseLike<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw toTyped(error, this.dialect, 'failed');
    }
  }

  async #mustCommit(): Promise<void> {
    if (committing.has(this.#db)) return;
    const text = 'SELECT @@autocommit AS `commits`';
    const [row] = (await this.#asked(() => this.#client.rows(text, []))) as Row[];
    if (Number(row?.commits) !== 1) throw manual();
    committing.add(this.#db);
  }
}

/** Up to the first column: the statements of stores name their columns. */
const INSERT = /^INSERT (?:IGNORE )?INTO (\S+)(?: AS \w+)? \(([^\s,)]+)/;

/**
 * The same statement, so that it meets no row: a wrong answer is known before a write. For an
 * INSERT, which has no condition, an UPDATE of the same table.
 */
function trialOf(
  sql: string,
  values: readonly unknown[],
): readonly [sql: string, values: readonly unknown[]] | undefined {
  if (/^(UPDATE|DELETE)/.test(sql)) return [`${sql} AND 1 = 0`, values];
  const [, table, column] = INSERT.exec(sql) ?? [];
  if (table === undefined) return undefined;
  return [`UPDATE ${table} SET ${column} = ${column} WHERE 1 = 0`, []];
}

/** @throws UsageError if `db` is not a client of these packages. */
export function connectionOf(db: SqlDatabase): SqlConnection {
  return new SqlConnection(clientOf(db), db);
}

/** @param why says why it has to be in one. @throws UsageError for a pool or a database. */
export function transactionOf(tx: SqlTransaction, why: string = LOCK_ENDS): SqlConnection {
  const client = clientOf(tx);
  if (client.place === 'pool') throw new UsageError(`Give a transaction, not a pool. ${why}`);
  return new SqlConnection(client, tx, why);
}

const LOCK_ENDS = 'A lock ends with its transaction, so take it inside one.';

const LEFT_OPEN =
  'Some code has given a connection back to the pool inside a transaction, so what is written on' +
  ' it is not committed. Holdfast has rolled it back and ended that connection.';

function manual(): UsageError {
  return new UsageError(
    'The connections of this pool do not commit statements by themselves (autocommit is off).' +
      ' Begin a transaction, or switch autocommit on.',
  );
}
