/**
 * Tables, columns and conditions as SQL.
 *
 * Invariant: no text of the caller's becomes part of a statement, unless it is a name of letters,
 * digits, `_`, `$` and `-`, and that is quoted. Values never do: they are bound. Names are the
 * database's own: quoted, they keep their case on PostgreSQL.
 */
import { Buffer } from 'node:buffer';
import { UsageError } from '../base/errors.ts';
import { reading } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { Dialect, Value } from './link.ts';
import { checkValue } from './values.ts';

/** Column to value. */
export type Columns = Readonly<Record<string, Value>>;

const NAME = /^[\p{L}_][\p{L}\p{N}_$-]*$/u;
/** PostgreSQL cuts longer ones off silently. */
const MAX_NAME_BYTES = 63;

/** `"name"`, or `"schema"."name"`. */
export function quoteTable(table: string): string {
  const parts = typeof table === 'string' ? table.split('.') : [];
  if (parts.length === 1 || parts.length === 2) {
    return parts.map((part) => quote(part, 'The table')).join('.');
  }
  throw new UsageError(`The table is a name, or one in a schema, not ${show(table)}.`);
}

export function quote(name: string, what: string): string {
  if (typeof name === 'string' && NAME.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES) {
    return `"${name}"`;
  }
  const good = `letters, digits, _, $ and -, at most ${MAX_NAME_BYTES} bytes`;
  throw new UsageError(`${what} must have a plain name (${good}), not ${show(name)}.`);
}

/** A piece of a statement, with the values for its placeholders. */
export interface Piece {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Each column once, with its checked value. */
export function readColumns(
  columns: Columns,
  { what, dialect }: { readonly what: string; readonly dialect: Dialect },
): [column: string, value: Value][] {
  return reading(what, () => {
    const entries = typeof columns === 'object' && columns !== null ? Object.entries(columns) : [];
    if (entries.length === 0 || Array.isArray(columns)) {
      throw new UsageError(`${what} must be an object, a value for each column.`);
    }
    return entries.map(([column, value]) => {
      checkValue(value, `${what}'s ${show(column)}`, dialect);
      return [quote(column, what), value];
    });
  });
}

/** `"a" = ? AND "b" = ?` */
export function readKey(key: Columns, dialect: Dialect): Piece {
  const entries = readColumns(key, { what: 'The key', dialect });
  if (entries.some(([, value]) => value === null)) {
    throw new UsageError('A key that is null finds no row.');
  }
  return {
    sql: entries.map(([column]) => `${column} = ?`).join(' AND '),
    values: entries.map(([, value]) => value),
  };
}
