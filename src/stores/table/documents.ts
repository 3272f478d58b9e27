/**
 * Documents as rows of a table in PostgreSQL, MySQL, MariaDB, and databases that speak like them.
 *
 * A version is a random id that each write brings along, so that none comes twice. A write is one
 * statement that commits by itself, and whose condition names the version: the database locks the
 * row before it looks at the condition. The clock is the database's.
 * What would break it: a client that reads from replicas; commits that a crash can lose
 * (`synchronous_commit = off`, `innodb_flush_log_at_trx_commit = 0`).
 */
import { Buffer } from 'node:buffer';
import { UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { randomId } from '../../base/random-id.ts';
import type { SqlDatabase } from '../../clients/sql/clients.ts';
import { columnsOnce } from '../../clients/sql/columns.ts';
import { connectionOf } from '../../clients/sql/connection.ts';
import type { TransactionError } from '../../clients/sql/errors.ts';
import { quoteTable } from '../../clients/sql/sql.ts';
import { storeErrorOf } from '../../clients/sql/store-error.ts';
import type { Documents } from '../document/documents.ts';
import {
  bound,
  MAX_NAME_BYTES,
  MAX_TEXT_BYTES,
  NEEDS,
  PAGE,
  statementsFor,
  TABLE,
  tableSchema,
  unbound,
} from './statements.ts';

export interface TableOptions {
  /** As `tableSchema` makes it; default `holdfast_documents`, and it may be `schema.name`. */
  readonly table?: string;
}

/** The next primary is another machine. */
const SLACK_MS = 1000;

interface ClockRow {
  readonly nowMs?: number;
}

/** @param db a pool, whose statements commit by themselves. @throws UsageError */
export function tableDocuments(db: SqlDatabase, options: TableOptions = {}): Documents {
  const { table = TABLE } = readOptions(options, ['table'], 'tableStore');
  const connection = connectionOf(db);
  if (!connection.single) {
    throw new UsageError('tableStore takes a pool: each of its statements commits by itself.');
  }
  const { dialect } = connection;
  const sql = statementsFor(dialect, table);
  const checked = columnsOnce(connection, quoteTable(table), NEEDS);
  const schema = tableSchema(dialect, table);
  const needs = `tableStore needs its table. Create it once:\n${schema}`;

  async function send<T>(work: () => Promise<T>): Promise<T> {
    try {
      await checked();
      return await work();
    } catch (error) {
      throw storeErrorOf(error, needs);
    }
  }

  /** The time, if a row was written. */
  async function write(statement: string, values: unknown[]): Promise<ClockRow | undefined> {
    if (sql.returns) {
      const [row] = await send(() => connection.rows(statement, values));
      return row && { nowMs: Number(row.now) };
    }
    if ((await send(() => connection.count(statement, values))) !== 1) return undefined;
    // It is written, whatever becomes of this.
    const [row] = await connection.rows(sql.now).catch(() => []);
    return row ? { nowMs: Number(row.now) } : {};
  }

  return {
    name: 'table',
    slackMs: SLACK_MS,
    async get(key) {
      const [row = {}] = await send(() => connection.rows(sql.get, [bound(dialect, key)]));
      const nowMs = Number(row.now);
      if (row.version === null) return { nowMs };
      const version = unbound(dialect, row.version);
      return { text: unbound(dialect, row.text), version, nowMs };
    },
    async put(key, text, onto) {
      checkLength(key, text);
      const version = randomId();
      const [name, value] = [bound(dialect, key), bound(dialect, text)];
      const id = bound(dialect, version);
      const [statement, values] =
        onto === undefined
          ? [sql.insert, [name, value, id]]
          : [sql.update, [value, id, name, bound(dialect, onto)]];
      const written = await write(statement, values).catch(rolledBack);
      return written ? { version, ...written } : 'other';
    },
    async remove(key, version) {
      const values = [bound(dialect, key), bound(dialect, version)];
      await send(() => connection.count(sql.remove, values));
    },
    async *list(prefix) {
      for (let from = prefix; ; ) {
        const rows = await send(() => connection.rows(sql.list, [bound(dialect, from)]));
        for (const { name } of rows) {
          from = unbound(dialect, name);
          if (!from.startsWith(prefix)) return;
          yield from;
        }
        if (rows.length < PAGE) return;
        // No name is between this one and the last.
        from += '\0';
      }
    },
  };
}

/** MySQL would cut what is too long, depending on its settings. */
function checkLength(key: string, text: string): void {
  const [name, value] = [Buffer.byteLength(key), Buffer.byteLength(text)];
  if (name > MAX_NAME_BYTES || value > MAX_TEXT_BYTES) {
    const sizes = `${name} and ${value} bytes`;
    const room = `${MAX_NAME_BYTES} and ${MAX_TEXT_BYTES}`;
    throw new UsageError(`Name and text of a row have ${sizes}; there is room for ${room}.`);
  }
}

/** The row was changed by another statement meanwhile, which this one was rolled back for. */
function rolledBack(error: unknown): undefined {
  const { reason } = ((error as Error).cause ?? {}) as Partial<TransactionError>;
  if (reason === 'serialization' || reason === 'deadlock') return undefined;
  throw error;
}
