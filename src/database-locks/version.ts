/**
 * The column that tells whether a row was changed: an integer, or a time.
 *
 * It is compared as the server's own text. JavaScript's Date has milliseconds where the column may
 * have microseconds, and its numbers end before BIGINT does: two versions would look the same, and
 * an update be lost. Text of sessions with different time zones differs for the same moment, which
 * costs an attempt and loses nothing.
 * The next version always differs from the last. An integer grows by one: so a column that is full
 * is refused before anything is written, for MySQL without a strict `sql_mode` writes the same
 * version again; and so is a column of floating-point numbers, where one more may be the same. A
 * time becomes the server's, or, if the last one is as late, the least later one that the column
 * can tell from it: therefore its precision must be known.
 */
import { UsageError } from '../base/errors.ts';
import type { Row } from './link.ts';
import type { Session } from './session.ts';

/** Columns of ours beside the row's; without capitals or `_`, or some libraries rename them. */
const TEXT = 'holdfastversion';
const TYPE = 'holdfasttype';

/**
 * More digits than a double has: on MySQL, a sum with an exact number or a time keeps them, and one
 * with a floating-point number or text does not.
 */
const EXACT = '0.10000000000000000000001';

export interface VersionColumn {
  /** Quoted. */
  readonly table: string;
  readonly column: string;
}

/** What to select beside the row. */
export function versionColumns({ dialect }: Session, { column }: VersionColumn): string {
  const [text, type] =
    dialect === 'postgres'
      ? [`CAST(t.${column} AS text)`, `CAST(pg_typeof(t.${column}) AS text)`]
      : [`CAST(t.${column} AS char)`, `CAST(t.${column} * 0 + ${EXACT} AS char)`];
  return `${text} AS "${TEXT}", ${type} AS "${TYPE}"`;
}

/** The condition under which the row is as it was; its value is the text. */
export function unchanged({ dialect }: Session, { column }: VersionColumn): string {
  return dialect === 'postgres'
    ? `CAST(${column} AS text) = CAST(? AS text)`
    : `CAST(${column} AS char) = ?`;
}

export interface Versioned {
  readonly row: Row;
  readonly text: string;
  readonly type: 'integer' | 'time';
}

/** @throws UsageError for a column that is no version. */
export function readVersion({ [TEXT]: text, [TYPE]: type, ...row }: Row): Versioned {
  const version = { row, text: String(text) };
  const integer = /^-?\d+$/.test(version.text);
  const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(version.text);
  const exact = type === EXACT;
  if (integer && (exact || /int/.test(String(type)))) return { ...version, type: 'integer' };
  if (time && (exact || /^timestamp/.test(String(type)))) return { ...version, type: 'time' };
  const what = text === null ? 'null' : version.text;
  throw new UsageError(`A version is an integer or a date with time; this one is ${what}.`);
}

/**
 * The text of a version at which some integer column of MySQL is full: all its bits or all its
 * digits are in use. Only then is the column asked about.
 */
function mayBeFull(text: string): boolean {
  const version = BigInt(text);
  return /^9+$/.test(text) || (version > 100n && (version & (version + 1n)) === 0n);
}

const BITS: Readonly<Record<string, bigint>> = {
  ...{ tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, bigint: 64n },
};

/** @throws UsageError if the column has no greater version. */
async function mustHaveRoom(
  session: Session,
  { table, column }: VersionColumn,
  text: string,
): Promise<void> {
  const names = table.split('.').map(unquoted);
  const [row] = await session.rows(
    `SELECT CAST(data_type AS char) AS "type", CAST(column_type AS char) AS "full",
numeric_precision AS "digits" FROM information_schema.columns
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND column_name = ?`,
    [names.length > 1 ? names[0] : null, names.at(-1), unquoted(column)],
  );
  const bits = BITS[String(row?.type)];
  const spare = /unsigned/.test(String(row?.full)) ? 0n : 1n;
  const most = bits ? 2n ** (bits - spare) - 1n : 10n ** BigInt(Number(row?.digits ?? 99)) - 1n;
  if (BigInt(text) < most) return;
  throw new UsageError(`The version is ${text}, the greatest of its column: make it a BIGINT.`);
}

function unquoted(name: string): string {
  return name.slice(1, -1);
}

/** The next version, as SQL. */
export async function nextVersion(
  session: Session,
  where: VersionColumn,
  { type, text }: Versioned,
): Promise<string> {
  const { column } = where;
  if (type === 'integer') {
    if (session.dialect === 'mysql' && mayBeFull(text)) await mustHaveRoom(session, where, text);
    return `${column} + 1`;
  }
  if (session.dialect === 'postgres') {
    const step = 10 ** (6 - (await digitsOnPostgres(session, where)));
    return `greatest(clock_timestamp(), ${column} + interval '${step} microseconds')`;
  }
  // The text has all digits of the column's.
  const digits = text.split('.')[1]?.length ?? 0;
  const step = 10 ** (6 - digits);
  return `GREATEST(NOW(${digits}), ${column} + INTERVAL ${step} MICROSECOND)`;
}

/** Of fractions of a second; its text drops zeros. */
async function digitsOnPostgres(
  session: Session,
  { table, column }: VersionColumn,
): Promise<number> {
  const [row] = await session.rows(
    `SELECT atttypmod AS "digits" FROM pg_catalog.pg_attribute
WHERE attrelid = CAST(CAST(? AS text) AS regclass) AND attname = CAST(? AS text)`,
    [table, column.slice(1, -1)],
  );
  const digits = Number(row?.digits);
  return digits >= 0 ? digits : 6;
}
