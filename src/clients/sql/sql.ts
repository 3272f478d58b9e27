/**
 * Tables, columns and conditions as SQL.
 *
 * Invariant: no text of the caller's becomes part of a statement, unless it is a name of letters,
 * digits, `_`, `$` and `-`, and that is quoted. Values never do: they are bound. Names are the
 * database's own: quoted, they keep their case on PostgreSQL.
 */
import { Buffer } from 'node:buffer';
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

export type Dialect = 'postgres' | 'mysql';

export type Row = Record<string, unknown>;

/** A value to bind. JSON goes as text: some clients make SQL of the fields of an object. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null;

export type Bound = string | number | bigint | boolean | Date | Buffer | null;

/** Column to value. */
export type Columns = Readonly<Record<string, Value>>;

const NAME = /^[\p{L}_][\p{L}\p{N}_$-]*$/u;
/** PostgreSQL truncates longer names silently. */
const MAX_NAME_BYTES = 63;

/** `"name"`, or `"schema"."name"`. */
export function quoteTable(table: string): string {
  const parts = typeof table === 'string' ? table.split('.') : [];
  if (parts.length === 1 || parts.length === 2) {
    return parts.map((part) => quote(part, 'The table')).join('.');
  }
  throw new UsageError(`The table must be a plain or schema-qualified name, not ${show(table)}.`);
}

export function quote(name: string, what: string): string {
  if (typeof name === 'string' && NAME.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES) {
    return `"${name}"`;
  }
  const good = `letters, digits, _, $ and -, at most ${MAX_NAME_BYTES} bytes`;
  throw new UsageError(`${what} must have a plain name (${good}), not ${show(name)}.`);
}

/** The schema, if it is named, and the name of a table as it stands in statements. */
export function partsOf(table: string): [schema: string | null, name: string] {
  const [name = '', schema = null] = table.replaceAll('"', '').split('.').reverse();
  return [schema, name];
}

export interface Piece {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Each column once, with its checked value. */
export function readColumns(
  columns: Columns,
  { what, dialect }: { readonly what: string; readonly dialect: Dialect },
): [column: string, value: Value][] {
  const entries = typeof columns === 'object' && columns !== null ? Object.entries(columns) : [];
  if (entries.length === 0 || Array.isArray(columns)) {
    throw new UsageError(`${what} must be an object with a value for each column.`);
  }
  return entries.map(([column, value]) => {
    checkValue(value, `${what}'s ${show(column)}`, dialect);
    return [quote(column, what), value];
  });
}

/** `"a" = ? AND "b" = ?` */
export function readKey(key: Columns, dialect: Dialect): Piece {
  const entries = readColumns(key, { what: 'The key', dialect });
  if (entries.some(([, value]) => value === null)) {
    throw new UsageError('The key must not be null: null matches no row.');
  }
  return {
    sql: entries.map(([column]) => `${column} = ?`).join(' AND '),
    values: entries.map(([, value]) => value),
  };
}

/** Statements are written once, with `?` for values and `"` around names. */
export function inDialect(dialect: Dialect, sql: string): string {
  if (dialect === 'mysql') return sql.replaceAll('"', '`');
  let n = 0;
  return sql.replace(/\?/g, () => `$${++n}`);
}

/**
 * The value as this dialect's clients bind it exactly. MySQL gets numbers as text: clients bind
 * them as doubles, and a double matches any text that begins with its digits.
 */
export function boundFor(dialect: Dialect, value: unknown): Bound {
  if (value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (dialect === 'postgres') return value as Bound;
  return typeof value === 'boolean' ? Number(value) : String(value);
}

/** @throws UsageError for a value that no database keeps unchanged. */
export function checkValue(value: unknown, what: string, dialect: Dialect): void {
  if (!isValue(value)) {
    const good = 'text, a finite number, bigint, boolean, Date, bytes or null';
    throw new UsageError(`${what} must be ${good}, not ${show(value)}.`);
  }
  if (typeof value !== 'string') return;
  if (!value.isWellFormed()) {
    throw new UsageError(`${what} has half a surrogate pair, so it is not valid Unicode.`);
  }
  if (dialect === 'postgres' && value.includes('\0')) {
    throw new UsageError(`${what} has a NUL, which text in PostgreSQL cannot hold.`);
  }
}

function isValue(value: unknown): value is Value {
  if (value === null) return true;
  if (value instanceof Date) return Number.isFinite(value.getTime());
  if (typeof value === 'number') return Number.isFinite(value);
  return ['string', 'bigint', 'boolean'].includes(typeof value) || value instanceof Uint8Array;
}
