/**
 * The column that shows whether a row was changed: an integer that grows by one in each write.
 *
 * It is compared as the server's own text: JavaScript's numbers end before BIGINT does, so two
 * versions would look the same, and an update be lost. The next version always differs from the
 * last: a column of floating-point numbers, where one more may be the same, is not a version; and
 * one that is full is refused before anything is written, because MySQL without a strict `sql_mode`
 * writes the same version again. Nor is a time a version: two writes within its precision look the
 * same.
 */
import { UsageError } from '../base/errors.ts';
import type { SqlConnection } from '../clients/sql/connection.ts';
import { partsOf, type Row } from '../clients/sql/sql.ts';

/** Columns of ours beside the row's; without capitals or `_`, or some libraries rename them. */
const TEXT = 'holdfastversion';
const TYPE = 'holdfasttype';

/**
 * More digits than a double has: on MySQL, a sum with an exact number keeps them, and one with a
 * floating-point number or text does not.
 */
const EXACT = '0.10000000000000000000001';

export interface VersionColumn {
  /** Quoted. */
  readonly table: string;
  readonly column: string;
}

/** The extra columns to select beside the row. */
export function versionColumns({ dialect }: SqlConnection, { column }: VersionColumn): string {
  const [text, type] =
    dialect === 'postgres'
      ? [`CAST(t.${column} AS text)`, `CAST(pg_typeof(t.${column}) AS text)`]
      : [`CAST(t.${column} AS char)`, `CAST(t.${column} * 0 + ${EXACT} AS char)`];
  return `${text} AS "${TEXT}", ${type} AS "${TYPE}"`;
}

/** The condition that the row is unchanged; its value is the version's text. */
export function unchanged({ dialect }: SqlConnection, { column }: VersionColumn): string {
  return dialect === 'postgres'
    ? `CAST(${column} AS text) = CAST(? AS text)`
    : `CAST(${column} AS char) = ?`;
}

export interface Versioned {
  readonly row: Row;
  readonly text: string;
}

/** @throws UsageError for a column that cannot be a version. */
export function readVersion({ [TEXT]: value, [TYPE]: type, ...row }: Row): Versioned {
  const text = String(value);
  if (/^-?\d+$/.test(text) && (type === EXACT || /int/.test(String(type)))) return { row, text };
  throw new UsageError(`The version must be an integer, not ${text}.`);
}

/**
 * The text of a version at which some integer column of MySQL is full: all its bits or all its
 * digits are in use. Only then does the caller look the column up.
 */
function mayBeFull(text: string): boolean {
  const version = BigInt(text);
  return /^9+$/.test(text) || (version > 100n && (version & (version + 1n)) === 0n);
}

const BITS: Readonly<Record<string, bigint>> = {
  tinyint: 8n,
  smallint: 16n,
  mediumint: 24n,
  int: 32n,
  bigint: 64n,
};

/** @throws UsageError if the column has no greater version. */
export async function mustHaveRoom(
  connection: SqlConnection,
  { table, column }: VersionColumn,
  { text }: Versioned,
): Promise<void> {
  if (connection.dialect === 'postgres' || !mayBeFull(text)) return;
  const [row] = await connection.rows(
    `SELECT CAST(data_type AS char) AS "type", CAST(column_type AS char) AS "full",
numeric_precision AS "digits" FROM information_schema.columns
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND column_name = ?`,
    [...partsOf(table), column.slice(1, -1)],
  );
  const bits = BITS[String(row?.type)];
  const spare = /unsigned/.test(String(row?.full)) ? 0n : 1n;
  const most = bits ? 2n ** (bits - spare) - 1n : 10n ** BigInt(Number(row?.digits ?? 99)) - 1n;
  if (BigInt(text) < most) return;
  throw new UsageError(
    `The version is ${text}, the greatest its column can hold: make the column a BIGINT.`,
  );
}
