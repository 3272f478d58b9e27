/**
 * Documents as rows of a table in PostgreSQL, MySQL, MariaDB, and databases that speak like them.
 *
 * A version is a random id that each write brings along, so that none comes twice. A write is one
 * statement that commits by itself, and whose condition names the version: the database locks the
 * row before it looks at the condition. The clock is the database's.
 * Names and texts are compared and kept byte by byte: MySQL's collations equate different names, if
 * only by a space at the end.
 * What would break it: a client that reads from replicas; commits that a crash can lose
 * (`synchronous_commit = off`, `innodb_flush_log_at_trx_commit = 0`).
 */
import { Buffer } from 'node:buffer';
import { UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { randomId } from '../../base/random-id.ts';
import { keptOnce } from '../../base/single-flight.ts';
import type { SqlDatabase } from '../../clients/sql/clients.ts';
import { type ColumnNeed, checkColumns } from '../../clients/sql/columns.ts';
import { connectionOf, type SqlConnection } from '../../clients/sql/connection.ts';
import { storeErrorOf, type TransactionError } from '../../clients/sql/errors.ts';
import { fromText, toText } from '../../clients/sql/name-text.ts';
import { type Dialect, inDialect, quoteTable } from '../../clients/sql/sql.ts';
import { checkLength, type Documents } from '../document/documents.ts';

export interface TableOptions {
  /** As `tableSchema` makes it; default `holdfast_documents`, and it may be `schema.name`. */
  readonly table?: string;
}

const PAGE = 1000;

export const TABLE = 'holdfast_documents';

/** What a row of MySQL has room for: it would cut what is longer, depending on its settings. */
const MAX_NAME_BYTES = 767;
const MAX_TEXT_BYTES = 16_777_215;

/** What the table must be like. */
const NEEDS: readonly ColumnNeed[] = [
  { column: 'name', kind: 'sorted', room: MAX_NAME_BYTES, key: true },
  { column: 'text', kind: 'bytes', room: MAX_TEXT_BYTES },
  { column: 'version', kind: 'bytes', room: 32 },
];

/**
 * The statement that makes the table of `tableStore`.
 *
 * @example
 * import { tableSchema } from 'holdfast/table';
 *
 * console.log(tableSchema('postgres'));
 *
 * @param table default `holdfast_documents`; it may be `schema.name`.
 * @throws UsageError
 */
export function tableSchema(dialect: 'postgres' | 'mysql', table: string = TABLE): string {
  const columns =
    dialect === 'postgres'
      ? ['name text COLLATE "C" PRIMARY KEY', 'text text NOT NULL', 'version text NOT NULL']
      : [
          `name varbinary(${MAX_NAME_BYTES}) PRIMARY KEY`,
          'text mediumblob NOT NULL',
          'version varbinary(64) NOT NULL',
        ];
  const made = `CREATE TABLE IF NOT EXISTS ${quoteTable(table)} (\n  ${columns.join(',\n  ')}\n)`;
  if (dialect === 'mysql') return `${inDialect(dialect, made)} ENGINE = InnoDB`;
  // Half of each page is left free, so that an update keeps a row on its page.
  return `${made} WITH (fillfactor = 50)`;
}

/** `tableSchema` takes a table of others for its own. @throws UsageError for one */
export async function checkTable(connection: SqlConnection, table: string = TABLE): Promise<void> {
  const quoted = quoteTable(table);
  try {
    await connection.rows(`SELECT name, text, version FROM ${quoted} WHERE 1 = 0`);
    await checkColumns(connection, quoted, NEEDS);
  } catch (error) {
    throw storeErrorOf(error, `There is another table ${quoted}. Give the locks their own.`);
  }
}

/** The next primary is another machine. */
const SLACK_MS = 1000;

/** @param db a pool, whose statements commit by themselves. */
export function tableDocuments(db: SqlDatabase, options: TableOptions = {}): Documents {
  const { table = TABLE } = readOptions(options, ['table'], 'tableStore');
  const connection = connectionOf(db);
  if (!connection.single) {
    throw new UsageError('tableStore takes a pool: each of its statements commits by itself.');
  }
  const { dialect } = connection;
  const quoted = quoteTable(table);
  const sql = statementsFor(dialect, quoted);
  const checked = keptOnce(() => checkColumns(connection, quoted, NEEDS));
  const needs = `tableStore needs its table. Create it once:\n${tableSchema(dialect, table)}`;

  /** All values are texts. */
  async function send<T>(work: (bound: unknown[]) => Promise<T>, texts: string[]): Promise<T> {
    try {
      await checked();
      return await work(texts.map((text) => bind(dialect, text)));
    } catch (error) {
      throw storeErrorOf(error, needs);
    }
  }

  /** The time, if a row was written. */
  async function write(statement: string, texts: string[]) {
    if (sql.returns) {
      const [row] = await send((bound) => connection.rows(statement, bound), texts);
      return row && { nowMs: Number(row.now) };
    }
    if ((await send((bound) => connection.count(statement, bound), texts)) !== 1) return undefined;
    // It is written, whatever becomes of this.
    const [row] = await connection.rows(sql.now).catch(() => []);
    return row ? { nowMs: Number(row.now) } : {};
  }

  return {
    name: 'table',
    slackMs: SLACK_MS,
    async get(key) {
      const [row = {}] = await send((bound) => connection.rows(sql.get, bound), [key]);
      const nowMs = Number(row.now);
      if (row.version === null) return { nowMs };
      const version = unbind(dialect, row.version);
      return { text: unbind(dialect, row.text), version, nowMs };
    },
    async put(key, text, onto) {
      checkLength(key, MAX_NAME_BYTES, 'The name of a row');
      checkLength(text, MAX_TEXT_BYTES, 'The text of a row');
      const version = randomId();
      const writing =
        onto === undefined
          ? write(sql.insert, [key, text, version])
          : write(sql.update, [text, version, key, onto]);
      const written = await writing.catch(rolledBack);
      return written ? { version, ...written } : 'other';
    },
    async remove(key, version) {
      await send((bound) => connection.count(sql.remove, bound), [key, version]);
    },
    async *list(prefix) {
      for (let from = prefix; ; ) {
        const rows = await send((bound) => connection.rows(sql.list, bound), [from]);
        for (const { name } of rows) {
          from = unbind(dialect, name);
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

/** The row was changed by another statement meanwhile, which this one was rolled back for. */
function rolledBack(error: unknown): undefined {
  const { reason } = ((error as Error).cause ?? {}) as Partial<TransactionError>;
  if (reason === 'serialization' || reason === 'deadlock') return undefined;
  throw error;
}

/** In ms since 1970, whatever the session's time zone is. */
const NOW: Readonly<Record<Dialect, string>> = {
  postgres: 'CAST(CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS text)',
  mysql: "CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000 AS char)",
};

function statementsFor(dialect: Dialect, quoted: string) {
  const returns = dialect === 'postgres';
  const [insert, otherwise] = returns
    ? ['INSERT', ' ON CONFLICT DO NOTHING']
    : ['INSERT IGNORE', ''];
  const now = `${NOW[dialect]} AS "now"`;
  const reply = returns ? ` RETURNING ${now}` : '';
  return {
    // One row, also where there is no document.
    get: `SELECT c.now AS "now", d.text AS "text", d.version AS "version"
FROM (SELECT ${NOW[dialect]} AS now) c LEFT JOIN ${quoted} d ON d.name = ?`,
    insert: `${insert} INTO ${quoted} (name, text, version) VALUES (?, ?, ?)${otherwise}${reply}`,
    update: `UPDATE ${quoted} SET text = ?, version = ? WHERE name = ? AND version = ?${reply}`,
    /** Whether these two return the time if they have written. MySQL's do not. */
    returns,
    now: `SELECT ${now}`,
    remove: `DELETE FROM ${quoted} WHERE name = ? AND version = ?`,
    list: `SELECT name AS "name" FROM ${quoted} WHERE name >= ? ORDER BY name LIMIT ${PAGE}`,
  };
}

/** Text as it is bound. Clients of MySQL would convert it to the connection's character set. */
function bind(dialect: Dialect, text: string): string | Buffer {
  return dialect === 'postgres' ? toText(text) : Buffer.from(text);
}

function unbind(dialect: Dialect, value: unknown): string {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
  return dialect === 'postgres' ? fromText(text) : text;
}
