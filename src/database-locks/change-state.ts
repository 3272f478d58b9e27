/**
 * A column as a lock: one UPDATE that names the state it expects.
 *
 * Invariant: of all callers that would change the row from the same state, one gets true. A single
 * statement finds the row, waits for a transaction that is writing it, checks the row again after
 * that, and writes. Every server counts the row, whether it counts matched or changed rows, because
 * the row becomes different: `to` must differ from `from`, or the row would match again and every
 * caller would get true.
 * What would break it: a key that names several rows.
 */
import { UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import type { SqlDatabase } from '../clients/sql/clients.ts';
import { connectionOf, type SqlConnection } from '../clients/sql/connection.ts';
import { type Columns, quoteTable, readColumns, readKey, type Value } from '../clients/sql/sql.ts';

export interface ChangeStateOptions {
  /** `name` or `schema.name`, as the database spells it. */
  readonly table: string;
  /** A value for each column of a unique key. */
  readonly key: Columns;
  /** The expected values, such as `{ state: 0 }`. */
  readonly from: Columns;
  /** The new values. At least one of the columns in `from` gets another value. */
  readonly to: Columns;
}

const OPTIONS = ['table', 'key', 'from', 'to'];

/**
 * Changes a row's state if it is the expected one, in a single statement: in a transaction or
 * outside of one. True if it did, false if the state was another or there is no such row.
 *
 * @example
 * import { changeState } from 'holdfast/sql';
 *
 * const change = { from: { state: 'new' }, to: { state: 'taken', worker: 3 } };
 * const mine = await changeState(pool, { table: 'task', key: { id: 7 }, ...change });
 *
 * @throws UsageError, TransactionError
 */
export function changeState(db: SqlDatabase, options: ChangeStateOptions): Promise<boolean> {
  const connection = connectionOf(db);
  const { dialect } = connection;
  const read = readOptions(options, OPTIONS, 'changeState');
  const key = readKey(read.key, dialect);
  const from = readColumns(read.from, { what: 'from', dialect });
  const to = readColumns(read.to, { what: 'to', dialect });
  if (!from.some((each) => to.some((other) => differ(each, other)))) {
    throw new UsageError(
      '`to` must change a column named in `from`; otherwise every caller would succeed.',
    );
  }
  const conditions = from.map(([column, value]) =>
    value === null ? `${column} IS NULL` : `${column} = ?`,
  );
  const changes = to.map(([column]) => `${column} = ?`).join(', ');
  const where = [key.sql, ...conditions].join(' AND ');
  const sql = `UPDATE ${quoteTable(read.table)} SET ${changes} WHERE ${where}`;
  const expected = from.flatMap(([, value]) => (value === null ? [] : [value]));
  return change(connection, sql, [...to.map(([, value]) => value), ...key.values, ...expected]);
}

async function change(connection: SqlConnection, sql: string, values: Value[]): Promise<boolean> {
  const rows = await connection.count(sql, values);
  if (rows > 1) throw new UsageError(`The key is not unique: it changed ${rows} rows.`);
  return rows === 1;
}

function differ([column, value]: [string, Value], [other, next]: [string, Value]): boolean {
  return column === other && String(value) !== String(next);
}
