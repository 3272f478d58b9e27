/**
 * The statements of documents in a table, in each database's SQL. Names and texts are compared and
 * kept byte by byte: MySQL's collations equate different names, if only by a space at the end.
 */
import { Buffer } from 'node:buffer';
import type { ColumnNeed } from '../../clients/sql/columns.ts';
import { fromText, toText } from '../../clients/sql/name-text.ts';
import { type Dialect, inDialect, quoteTable } from '../../clients/sql/sql.ts';

export interface TableStatements {
  readonly get: string;
  readonly insert: string;
  readonly update: string;
  /** Whether these two return the time if they have written. MySQL's do not. */
  readonly returns: boolean;
  readonly now: string;
  readonly remove: string;
  readonly list: string;
}

/** Rows that a page of the list has. */
export const PAGE = 1000;

export const TABLE = 'holdfast_documents';

/** What a row of MySQL has room for. */
export const MAX_NAME_BYTES = 767;
export const MAX_TEXT_BYTES = 16_777_215;

/** What the table must be like. */
export const NEEDS: readonly ColumnNeed[] = [
  { column: 'name', kind: 'sorted', room: MAX_NAME_BYTES },
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

/** In ms since 1970, whatever the session's time zone is. */
const NOW: Readonly<Record<Dialect, string>> = {
  postgres: 'CAST(CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS text)',
  mysql: "CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000 AS char)",
};

export function statementsFor(dialect: Dialect, table: string = TABLE): TableStatements {
  const quoted = quoteTable(table);
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
    returns,
    now: `SELECT ${now}`,
    remove: `DELETE FROM ${quoted} WHERE name = ? AND version = ?`,
    list: `SELECT name AS "name" FROM ${quoted} WHERE name >= ? ORDER BY name LIMIT ${PAGE}`,
  };
}

/** Text as it is bound. Clients of MySQL would convert it to the connection's character set. */
export function bound(dialect: Dialect, text: string): string | Buffer {
  return dialect === 'postgres' ? toText(text) : Buffer.from(text);
}

/** The text of a column. */
export function unbound(dialect: Dialect, value: unknown): string {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
  return dialect === 'postgres' ? fromText(text) : text;
}
