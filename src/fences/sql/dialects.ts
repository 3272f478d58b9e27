/**
 * The fence's row in each database's SQL, and an entry as a series of statements.
 *
 * Tokens travel as text: clients differ in how they bind and read integers beyond 2^53. Each
 * statement writes the row even if nothing changes, since only a write keeps others out.
 */
import { Buffer } from 'node:buffer';
import { UsageError } from '../../base/errors.ts';
import type { ColumnNeed } from '../../clients/sql/columns.ts';
import { fromText, toText } from '../../clients/sql/name-text.ts';
import { inDialect, quoteTable } from '../../clients/sql/sql.ts';
import type { FencingToken } from '../../contract/token.ts';
import type { FenceVerb } from '../fence.ts';
import { type SeenToken, stale } from '../rule.ts';

export type FenceDialect = 'sqlite' | 'postgres' | 'mysql';

interface FenceSql {
  /** The statement that makes the table. */
  readonly schema: string;
  /** For resource, lineage and token: enters, or changes nothing. */
  readonly raise: string;
  readonly raiseFloor: string;
  readonly adopt: string;
  /** Whether these three return a row if they have entered, and none if not. MySQL's do not. */
  readonly returns: boolean;
  /** Reads what the fence has seen of a resource. */
  readonly look: string;
  encode(name: string): string | Buffer;
  /** The lineage from the text that `look` returns. */
  decode(lineage: string): string;
}

const RESOURCE_BYTES = 640;
const LINEAGE_BYTES = 512;

/** What the table must be like on servers. */
export const NEEDS: readonly ColumnNeed[] = [
  { column: 'resource', kind: 'bytes', room: RESOURCE_BYTES, key: true },
  { column: 'lineage', kind: 'bytes', room: LINEAGE_BYTES },
  { column: 'token', kind: 'bigint' },
  { column: 'floor', kind: 'bigint' },
];

export const FENCE_SQL: Readonly<Record<FenceDialect, (table: string) => FenceSql>> = {
  sqlite: (table) => {
    if (typeof table !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(table)) {
      throw new UsageError('table must be a plain identifier of at most 63 letters and digits.');
    }
    return {
      ...standard(table),
      encode: (name) => name,
      decode: (lineage) => lineage,
      // Resources are compared byte by byte, as SQLite's default collation does.
      schema: `CREATE TABLE IF NOT EXISTS ${table} (
  resource TEXT PRIMARY KEY,
  lineage TEXT NOT NULL,
  token INTEGER NOT NULL,
  floor INTEGER NOT NULL
) WITHOUT ROWID`,
    };
  },
  postgres: (table) => ({
    ...standard(quoteTable(table)),
    encode: toText,
    decode: fromText,
    // Half of each page is left free, so that an update keeps a row on its page.
    schema: `CREATE TABLE IF NOT EXISTS ${quoteTable(table)} (
  resource text COLLATE "C" PRIMARY KEY,
  lineage text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  floor bigint NOT NULL
) WITH (fillfactor = 50)`,
  }),
  mysql: (table) => ({
    ...mysql(quoteTable(table)),
    encode: (name) => Buffer.from(name),
    decode: (hex) => Buffer.from(hex, 'hex').toString(),
    // Bytes: MySQL's collations equate different names, if only by a space at the end.
    schema: `CREATE TABLE IF NOT EXISTS ${inDialect('mysql', quoteTable(table))} (
  resource varbinary(${RESOURCE_BYTES}) PRIMARY KEY,
  lineage varbinary(${LINEAGE_BYTES}) NOT NULL,
  token bigint NOT NULL,
  floor bigint NOT NULL
) ENGINE = InnoDB`,
  }),
};

type FenceStatements = Pick<FenceSql, 'raise' | 'raiseFloor' | 'adopt' | 'returns' | 'look'>;

/** The same for SQLite and PostgreSQL. */
function standard(table: string): FenceStatements {
  const row = `INSERT INTO ${table} AS f (resource, lineage, token, floor)`;
  const token = 'CAST(CAST(? AS text) AS bigint)';
  return {
    returns: true,
    raise: `${row} VALUES (?, ?, ${token}, 0)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token
WHERE f.lineage = excluded.lineage AND f.token <= excluded.token AND f.floor <= excluded.token
RETURNING 1 AS entered`,
    raiseFloor: `${row} VALUES (?, ?, 0, ${token})
ON CONFLICT (resource) DO UPDATE
SET floor = CASE WHEN f.floor > excluded.floor THEN f.floor ELSE excluded.floor END
WHERE f.lineage = excluded.lineage AND f.token <= excluded.floor
RETURNING 1 AS entered`,
    adopt: `${row} VALUES (?, ?, ${token}, 0)
ON CONFLICT (resource) DO UPDATE SET lineage = excluded.lineage, token = excluded.token, floor = 0
RETURNING 1 AS entered`,
    look: `SELECT lineage, CAST(token AS text) AS token, CAST(floor AS text) AS floor
FROM ${table} WHERE resource = ?`,
  };
}

function mysql(table: string): FenceStatements {
  const row = `INSERT INTO ${table} (resource, lineage, token, floor)`;
  const same = 'lineage = VALUES(lineage)';
  return {
    returns: false,
    raise: `${row} VALUES (?, ?, ?, 0) ON DUPLICATE KEY UPDATE token =
IF(${same} AND token <= VALUES(token) AND floor <= VALUES(token), VALUES(token), token)`,
    raiseFloor: `${row} VALUES (?, ?, 0, ?) ON DUPLICATE KEY UPDATE floor =
IF(${same} AND token <= VALUES(floor) AND floor < VALUES(floor), VALUES(floor), floor)`,
    adopt: `${row} VALUES (?, ?, ?, 0) ON DUPLICATE KEY UPDATE
lineage = VALUES(lineage), token = VALUES(token), floor = 0`,
    look: `SELECT HEX(lineage) AS lineage,
CAST(token AS char) AS token, CAST(floor AS char) AS floor
FROM ${table} WHERE resource = ? FOR UPDATE`,
  };
}

export interface EntryStep {
  readonly sql: string;
  readonly values: readonly (string | Uint8Array)[];
  /** Whether it returns rows. */
  readonly brings: boolean;
}

/** Each step gets back its first row, if it returns any. */
export type Steps = Generator<EntryStep, void, unknown>;

/**
 * Writes first: two transactions that look for a missing row would keep each other from inserting
 * it. Where the write does not report whether it entered, reads the row, which is still locked.
 * @throws StaleTokenError
 */
export function* entering(sql: FenceSql, verb: FenceVerb, mine: FencingToken): Steps {
  const resource = sql.encode(mine.resource);
  const values = [resource, sql.encode(mine.lineage), String(mine.token)];
  const raise = mine.kind === 'read' ? sql.raiseFloor : sql.raise;
  const enter = verb === 'adopt' ? sql.adopt : raise;
  const entered = yield { sql: enter, values, brings: sql.returns };
  if (entered || verb === 'adopt') return;
  const row = yield { sql: sql.look, values: [resource], brings: true };
  const { lineage, token, floor } = row as Record<keyof SeenToken, string>;
  const seen = { lineage: sql.decode(lineage), token: BigInt(token), floor: BigInt(floor) };
  if (sql.returns || !isIn(seen, mine)) throw stale(mine, seen);
}

/** Whether the row shows this entry. */
function isIn(seen: SeenToken, { lineage, kind, token }: FencingToken): boolean {
  if (seen.lineage !== lineage) return false;
  return kind === 'read' ? seen.token <= token : seen.token === token && seen.floor <= token;
}
