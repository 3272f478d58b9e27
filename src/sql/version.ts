/**
 * The column that tells whether a row was changed: an integer, or a time.
 *
 * It is compared as the server's own text. JavaScript's Date has milliseconds where the column may
 * have microseconds, and its numbers end before BIGINT does: two versions would look the same, and
 * an update be lost. Text of sessions with different time zones differs for the same moment, which
 * costs an attempt and loses nothing.
 * The next version always differs from the last. An integer grows by one. A time becomes the
 * server's, or, if the last one is as late, the least later one that the column can tell from it:
 * therefore its precision must be known.
 */
import { UsageError } from '../errors.ts';
import type { Row, Session } from './session.ts';

/** Columns of ours beside the row's; without capitals or `_`, or some libraries rename them. */
const TEXT = 'holdfastversion';
const TYPE = 'holdfasttype';

export interface VersionColumn {
  /** Quoted. */
  readonly table: string;
  readonly column: string;
}

/** What to select beside the row. */
export function versionColumns({ dialect }: Session, { column }: VersionColumn): string {
  return dialect === 'postgres'
    ? `CAST(t.${column} AS text) AS "${TEXT}", CAST(pg_typeof(t.${column}) AS text) AS "${TYPE}"`
    : `CAST(t.${column} AS char) AS "${TEXT}"`;
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
  if (type === undefined && (integer || time)) {
    return { ...version, type: integer ? 'integer' : 'time' };
  }
  if (integer && /int/.test(String(type))) return { ...version, type: 'integer' };
  if (time && /^timestamp/.test(String(type))) return { ...version, type: 'time' };
  const what = text === null ? 'null' : version.text;
  throw new UsageError(`A version is an integer or a date with time; this one is ${what}.`);
}

/** The next version, as SQL. */
export async function nextVersion(
  session: Session,
  where: VersionColumn,
  { type, text }: Versioned,
): Promise<string> {
  const { column } = where;
  if (type === 'integer') return `${column} + 1`;
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
