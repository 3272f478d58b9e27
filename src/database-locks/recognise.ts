/** Which package an object is of, and how statements go through it. */
import { UsageError } from '../base/errors.ts';
import { randomId } from '../base/random-id.ts';
import type { Bound, Link } from './link.ts';
import { type MysqlClient, mysqlLink } from './mysql-link.ts';

type Thing = Readonly<Record<string, unknown>>;
type Answer = Readonly<Record<string, unknown>>;

const TAKEN =
  'a connection or pool of pg, postgres, mysql2 or mariadb, a transaction of Kysely or of Drizzle';

/** @throws UsageError if it is of none. */
export function recognise(client: unknown): Link {
  const usable = (typeof client === 'object' && client !== null) || typeof client === 'function';
  const link = usable ? linkOf(client as Thing) : undefined;
  if (link) return link;
  throw new UsageError(`This takes ${TAKEN}; or { dialect, transaction, rows, count } for others.`);
}

function linkOf(thing: Thing): Link | undefined {
  const client: unknown = thing;
  const has = (...names: string[]): boolean =>
    names.every((name) => typeof thing[name] === 'function');
  if (has('rows', 'count')) return otherLink(client as Other);
  if (has('getExecutor', 'executeQuery')) return kyselyLink(client as Kysely);
  if (has('execute', 'select', 'transaction')) return drizzleLink(client as Drizzle);
  if (has('unsafe')) return postgresLink(client as Postgres);
  if (has('query', 'escapeIdentifier')) return pgLink(client as Pg, 'connection');
  if (has('query', 'connect') && 'totalCount' in thing) return pgLink(client as Pg, 'pool');
  if (has('query', 'execute', 'beginTransaction')) {
    return mysqlLink(client as MysqlClient, 'connection');
  }
  if (has('query', 'execute', 'getConnection')) return mysqlLink(client as MysqlClient, 'pool');
  return undefined;
}

/** In a transaction this takes a lock that everybody may have; elsewhere it is an error. */
const ONLY_IN_TRANSACTION = 'LOCK TABLE pg_catalog.pg_namespace IN ACCESS SHARE MODE';
const NO_TRANSACTION = '25P01';

async function begunAt(ask: () => PromiseLike<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if ((error as Answer).code === NO_TRANSACTION) return false;
    throw error;
  }
}

interface Pg {
  query(text: string, values?: Bound[]): PromiseLike<Answer>;
  /** From 8.17 on. */
  getTransactionStatus?(): string | null;
}

function pgLink(client: Pg, place: 'connection' | 'pool'): Link {
  return {
    dialect: 'postgres',
    place,
    rows: async (sql, values) => (await client.query(sql, values)).rows,
    count: async (sql, values) => (await client.query(sql, values)).rowCount,
    begun: async () => {
      const status = client.getTransactionStatus?.();
      if (status === 'T' || status === 'E') return true;
      // It may not know, or a BEGIN may be on its way.
      return begunAt(() => client.query(ONLY_IN_TRANSACTION));
    },
  };
}

interface Postgres {
  unsafe(text: string, values?: Bound[]): PromiseLike<Answer>;
  /** Inside of `begin`. */
  readonly savepoint?: unknown;
  /** Of a reserved connection. */
  readonly release?: unknown;
}

function postgresLink(sql: Postgres): Link {
  const begun = typeof sql.savepoint === 'function';
  const reserved = typeof sql.release === 'function';
  return {
    dialect: 'postgres',
    place: begun ? 'transaction' : reserved ? 'connection' : 'pool',
    rows: (text, values) => sql.unsafe(text, values),
    count: async (text, values) => (await sql.unsafe(text, values)).count,
    begun: () => begunAt(() => sql.unsafe(ONLY_IN_TRANSACTION)),
  };
}

interface Kysely {
  readonly isTransaction: boolean;
  /** Has the properties of the dialect under `adapter`. */
  getExecutor(): Readonly<Record<string, Answer>>;
  executeQuery(query: object): PromiseLike<Answer>;
}

function kyselyLink(db: Kysely): Link | undefined {
  const dialect = kyselyDialect(db.getExecutor().adapter);
  if (!dialect) return undefined;
  const send = (sql: string, parameters: Bound[]): PromiseLike<Answer> => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
    return db.executeQuery({ sql, parameters, query, queryId: { queryId: randomId() } });
  };
  return {
    ...certain(dialect, db.isTransaction),
    rows: async (sql, values) => (await send(sql, values)).rows,
    count: async (sql, values) => (await send(sql, values)).numAffectedRows,
  };
}

/** SQLite has RETURNING alone, SQL Server transactional DDL alone. */
function kyselyDialect(has: Answer = {}): Link['dialect'] | undefined {
  const { supportsReturning, supportsTransactionalDdl } = has;
  if (supportsReturning !== supportsTransactionalDdl) return undefined;
  return supportsReturning ? 'postgres' : 'mysql';
}

interface Drizzle {
  execute(statement: object): PromiseLike<unknown>;
  /** Of PostgreSQL. */
  readonly refreshMaterializedView?: unknown;
  /** Of a transaction. */
  readonly rollback?: unknown;
}

function drizzleLink(db: Drizzle): Link {
  const dialect = typeof db.refreshMaterializedView === 'function' ? 'postgres' : 'mysql';
  const send = (sql: string, params: Bound[]): PromiseLike<unknown> =>
    // All that Drizzle asks of a statement.
    db.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) });
  return {
    ...certain(dialect, typeof db.rollback === 'function'),
    rows: async (sql, values) => {
      const answer = await send(sql, values);
      if (dialect === 'mysql') return (answer as unknown[])[0];
      return Array.isArray(answer) ? answer : (answer as Answer).rows;
    },
    count: async (sql, values) => {
      const answer = await send(sql, values);
      if (dialect === 'mysql') return (answer as Answer[])[0]?.affectedRows;
      // As `postgres` has it, `pg`, and PGlite.
      const { count, rowCount, affectedRows } = answer as Answer;
      return count ?? rowCount ?? affectedRows;
    },
  };
}

interface Other {
  readonly dialect: unknown;
  readonly transaction: boolean;
  rows(sql: string, values: Bound[]): PromiseLike<unknown>;
  count(sql: string, values: Bound[]): PromiseLike<unknown>;
}

function otherLink(other: Other): Link | undefined {
  const { dialect } = other;
  if (dialect !== 'postgres' && dialect !== 'mysql') return undefined;
  return {
    ...certain(dialect, other.transaction === true),
    rows: (sql, values) => other.rows(sql, values),
    count: (sql, values) => other.count(sql, values),
  };
}

/** The object itself tells whether it is a transaction. */
function certain(
  dialect: Link['dialect'],
  begun: boolean,
): Pick<Link, 'dialect' | 'place' | 'begun'> {
  return { dialect, place: begun ? 'transaction' : 'pool', begun: async () => begun };
}
