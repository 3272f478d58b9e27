/**
 * The fence's rows in PostgreSQL, MySQL and MariaDB.
 *
 * Whoever enters writes the row, or waits for who did. On PostgreSQL, what follows then reads what
 * they committed: at READ COMMITTED because each statement looks anew, and above it because the
 * snapshot is the first statement's, and the server fails it (a serialization failure) if the row
 * was changed since. On MySQL the write fixes no snapshot: the first read after it does.
 * What would break it: a snapshot that is older than the entry, on MySQL at REPEATABLE READ: a read
 * before `enter`, or START TRANSACTION WITH CONSISTENT SNAPSHOT.
 * MySQL does not tell whether the row was changed or kept: so it is looked at afterwards, still
 * locked. The write comes first: two that look for a row that is missing would lock each other out
 * of inserting it.
 */
import { Buffer } from 'node:buffer';
import { isLockError, UsageError } from '../base/errors.ts';
import type { FencingToken } from '../contract/token.ts';
import type { SqlTransaction } from '../database-locks/clients.ts';
import { quoteTable } from '../database-locks/identifiers.ts';
import type { Dialect } from '../database-locks/link.ts';
import { inDialect, type Session, transactionOf } from '../database-locks/session.ts';
import { fromText, toText } from '../stores/name-text.ts';
import type { Seen } from './entering.ts';
import { type Statements, statements } from './statements.ts';

export interface ServerRows {
  readonly schema: string;
  /** @throws UsageError for what is no transaction of this dialect. */
  sessionOf(tx: SqlTransaction): Session;
  /** Nothing if it was let in. */
  raise(session: Session, token: FencingToken): Promise<Seen | undefined>;
  adopt(session: Session, token: FencingToken): Promise<void>;
}

export function serverRows(dialect: Dialect, name: string): ServerRows {
  const table = quoteTable(name);
  const { encode, decode, schema, sql, entered } = TERMS[dialect](table);

  async function send(session: Session, statement: string, token: FencingToken): Promise<boolean> {
    await session.mustHaveBegun();
    const values = [encode(token.resource), encode(token.lineage), String(token.token)];
    try {
      return await entered(session, statement, values);
    } catch (error) {
      if (!isLockError(error, 'USAGE') || error.cause === undefined) throw error;
      const what = `The fence needs its table, which you make once:\n${schema}`;
      throw new UsageError(`${error.message}. ${what}`, { cause: error.cause });
    }
  }

  return {
    schema,
    sessionOf(tx) {
      const session = transactionOf(tx);
      if (session.dialect === dialect) return session;
      throw new UsageError(`This fence is for ${dialect}, the transaction of ${session.dialect}.`);
    },
    async raise(session, token) {
      const statement = token.kind === 'read' ? sql.raiseFloor : sql.raise;
      if (await send(session, statement, token)) return undefined;
      const [row] = await session.rows(sql.look, [encode(token.resource)]);
      const seen = {
        lineage: decode(String(row?.lineage)),
        token: BigInt(String(row?.token)),
        floor: BigInt(String(row?.floor)),
      };
      return dialect === 'mysql' && isIn(seen, token) ? undefined : seen;
    },
    async adopt(session, token) {
      await send(session, sql.adopt, token);
    },
  };
}

/** Whether this is what the row looks like after the entry. */
function isIn(seen: Seen, { lineage, kind, token }: FencingToken): boolean {
  if (seen.lineage !== lineage) return false;
  return kind === 'read' ? seen.token <= token : seen.token === token && seen.floor <= token;
}

interface Terms {
  readonly schema: string;
  readonly sql: Statements;
  /** Names as they are kept. */
  encode(name: string): string | Buffer;
  /** Back from what `look` brings. */
  decode(lineage: string): string;
  /** Sends a statement; whether its answer alone tells of an entry. */
  entered(session: Session, sql: string, values: readonly unknown[]): Promise<boolean>;
}

const TERMS: Readonly<Record<Dialect, (table: string) => Terms>> = {
  postgres: (table) => ({
    schema: postgresSchema(table),
    sql: statements(table),
    encode: toText,
    decode: fromText,
    entered: async (session, sql, values) => (await session.rows(sql, values)).length > 0,
  }),
  mysql: (table) => ({
    schema: mysqlSchema(table),
    sql: mysqlStatements(table),
    encode: (name) => Buffer.from(name),
    decode: (hex) => Buffer.from(hex, 'hex').toString(),
    entered: async (session, sql, values) => {
      await session.count(sql, values);
      return false;
    },
  }),
};

/** Half of each page is left free, so that a row is rewritten where it is. */
function postgresSchema(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
  resource text COLLATE "C" PRIMARY KEY,
  lineage text COLLATE "C" NOT NULL,
  token bigint NOT NULL,
  floor bigint NOT NULL
) WITH (fillfactor = 50)`;
}

/** Bytes: MySQL's collations take different names for one, if only for a space at the end. */
function mysqlSchema(table: string): string {
  return inDialect(
    'mysql',
    `CREATE TABLE IF NOT EXISTS ${table} (
  resource varbinary(640) PRIMARY KEY,
  lineage varbinary(512) NOT NULL,
  token bigint NOT NULL,
  floor bigint NOT NULL
) ENGINE = InnoDB`,
  );
}

function mysqlStatements(table: string): Statements {
  const row = `INSERT INTO ${table} (resource, lineage, token, floor)`;
  const same = 'lineage = VALUES(lineage)';
  return {
    raise: `${row} VALUES (?, ?, ?, 0) ON DUPLICATE KEY UPDATE token =
IF(${same} AND token <= VALUES(token) AND floor <= VALUES(token), VALUES(token), token)`,
    raiseFloor: `${row} VALUES (?, ?, 0, ?) ON DUPLICATE KEY UPDATE floor =
IF(${same} AND token <= VALUES(floor) AND floor < VALUES(floor), VALUES(floor), floor)`,
    look: `SELECT HEX(lineage) AS lineage,
CAST(token AS char) AS token, CAST(floor AS char) AS floor
FROM ${table} WHERE resource = ? FOR UPDATE`,
    adopt: `${row} VALUES (?, ?, ?, 0) ON DUPLICATE KEY UPDATE
lineage = VALUES(lineage), token = VALUES(token), floor = 0`,
  };
}
