/** Sends statements through an object of any package: one `Client` for them all. */
import { UsageError } from '../../base/errors.ts';
import { randomId } from '../../base/random-id.ts';
import { show } from '../../base/show.ts';
import { has } from '../members.ts';
import { type Client, type ClientAnswer, endAfter, type SqlSender } from './client.ts';
import type { OtherConnection } from './clients.ts';
import { type Mysql, type MysqlPool, mysql, mysqlPool } from './mysql-clients.ts';
import { ormSender, packageOf, type Recognised } from './packages.ts';
import type { Bound, Dialect } from './sql.ts';

const TAKEN =
  'a connection or pool of pg, postgres, mysql2 or mariadb, or a transaction of Kysely, Drizzle,' +
  ' Prisma, Knex, TypeORM, Sequelize or MikroORM';

/** @throws UsageError if it is of no known package. */
export function clientOf(given: unknown): Client {
  const found = packageOf(given);
  const sender = found && senderOf(given, found);
  if (sender) return { ...sender, place: found.place };
  if (has(given, 'then')) throw new UsageError(`This is a promise: await it. Give ${TAKEN}.`);
  throw new UsageError(`Give ${TAKEN}; for others, { dialect, transaction, rows, count }.`);
}

function senderOf(given: unknown, { name, place }: Recognised): SqlSender | undefined {
  const pool = place === 'pool';
  switch (name) {
    case 'pg':
      return pool ? pgPool(given as PgPool) : pg(given as Pg);
    case 'postgres':
      return ofBun(given as Bun, place) ?? postgres(given as Postgres);
    case 'mysql2':
    case 'mariadb':
      return pool ? mysqlPool(given as MysqlPool) : mysql(given as Mysql);
    case 'kysely':
      return kysely(given as Kysely);
    case 'drizzle':
      return (pool && poolIn(given as Drizzle)) || drizzle(given as Drizzle);
    case 'other':
      return other(given as OtherConnection);
    case 'orm':
      return ormSender(given, clientOf);
  }
}

/** In a transaction this takes a lock that all can share; outside of one it is an error. */
const ONLY_IN_TRANSACTION = 'LOCK TABLE pg_catalog.pg_namespace IN ACCESS SHARE MODE';
const NO_TRANSACTION = '25P01';

async function begunAt(ask: () => PromiseLike<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if ((error as ClientAnswer).code === NO_TRANSACTION) return false;
    throw error;
  }
}

interface Pg {
  query(text: string, values?: Bound[]): PromiseLike<ClientAnswer>;
  /** From 8.17 on. */
  getTransactionStatus?(): string | null;
}

function pg(client: Pg): SqlSender {
  return {
    dialect: 'postgres',
    rows: async (sql, values) => (await client.query(sql, values)).rows,
    count: async (sql, values) => (await client.query(sql, values)).rowCount,
    begun: async () => {
      const status = client.getTransactionStatus?.();
      if (status === 'T' || status === 'E') return true;
      // The client may not know, or a BEGIN may be under way.
      return begunAt(() => client.query(ONLY_IN_TRANSACTION));
    },
  };
}

interface PgPool extends Pg {
  connect(): PromiseLike<PgLent>;
}

interface PgLent extends Pg {
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
  release(destroy: boolean): void;
}

/** A statement fails with its connection; without a listener, the event would end the process. */
const IGNORED = (): void => {};

function pgPool(pool: PgPool): SqlSender {
  return {
    ...pg(pool),
    borrow: async () => {
      const one = await pool.connect();
      one.on('error', IGNORED);
      return {
        ...pg(one),
        state: () => {
          const status = one.getTransactionStatus?.();
          if (!status) return undefined;
          return status === 'I' ? 'idle' : 'begun';
        },
        // As its own `query` does: the server's last word may not have come yet.
        giveBack: (failed) => {
          if (!failed) one.off('error', IGNORED);
          one.release(failed);
        },
        end: () => endAfter(one.query('ROLLBACK'), () => one.release(true)),
      };
    },
  };
}

interface Postgres {
  unsafe(text: string, values?: Bound[]): PromiseLike<ClientAnswer>;
}

function postgres(sql: Postgres): SqlSender {
  return {
    dialect: 'postgres',
    rows: (text, values) => sql.unsafe(text, values),
    count: async (text, values) => (await sql.unsafe(text, values)).count,
    begun: () => begunAt(() => sql.unsafe(ONLY_IN_TRANSACTION)),
  };
}

/** `Bun.sql` has the methods of postgres.js on every database. */
interface Bun extends Postgres {
  readonly options?: ClientAnswer;
}

/** Undefined unless it speaks with MySQL or MariaDB. */
function ofBun(sql: Bun, place: Recognised['place']): SqlSender | undefined {
  if (!/^(mysql|mariadb)$/.test(String(sql.options?.adapter))) return undefined;
  if (place !== 'transaction') throw new UsageError('Of Bun.sql on MySQL, give the transaction.');
  return {
    dialect: 'mysql',
    rows: (text, values) => sql.unsafe(text, values),
    count: async (text, values) => (await sql.unsafe(text, values)).affectedRows,
  };
}

interface Kysely {
  /** Has the properties of the dialect under `adapter`. */
  getExecutor(): Readonly<Record<string, ClientAnswer>>;
  executeQuery(query: object): PromiseLike<ClientAnswer>;
}

function kysely(db: Kysely): SqlSender | undefined {
  const dialect = kyselyDialect(db.getExecutor().adapter);
  if (!dialect) return undefined;
  const send = (sql: string, parameters: Bound[]): PromiseLike<ClientAnswer> => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
    return db.executeQuery({ sql, parameters, query, queryId: { queryId: randomId() } });
  };
  return {
    dialect,
    rows: async (sql, values) => (await send(sql, values)).rows,
    count: async (sql, values) => (await send(sql, values)).numAffectedRows,
  };
}

/** SQLite has RETURNING alone, SQL Server transactional DDL alone. */
function kyselyDialect(has: ClientAnswer = {}): Dialect | undefined {
  const { supportsReturning, supportsTransactionalDdl } = has;
  if (supportsReturning !== supportsTransactionalDdl) return undefined;
  return supportsReturning ? 'postgres' : 'mysql';
}

interface Drizzle {
  readonly $client?: unknown;
  execute(statement: object): PromiseLike<unknown>;
  /** Only databases for PostgreSQL have it. */
  readonly refreshMaterializedView?: unknown;
}

/** The pool inside, which tells more about what became of a statement. */
function poolIn({ $client }: Drizzle): SqlSender | undefined {
  const found = packageOf($client);
  return found?.place === 'pool' ? senderOf($client, found) : undefined;
}

function drizzle(db: Drizzle): SqlSender {
  const dialect = typeof db.refreshMaterializedView === 'function' ? 'postgres' : 'mysql';
  const send = (sql: string, params: Bound[]): PromiseLike<unknown> =>
    // All that Drizzle needs of a statement.
    db.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) });
  return {
    dialect,
    rows: async (sql, values) => {
      const answer = await send(sql, values);
      if (dialect === 'mysql') return (answer as unknown[])[0];
      return Array.isArray(answer) ? answer : (answer as ClientAnswer).rows;
    },
    count: async (sql, values) => {
      const answer = await send(sql, values);
      if (dialect === 'mysql') return (answer as ClientAnswer[])[0]?.affectedRows;
      // The names in `postgres`, `pg` and PGlite.
      const { count, rowCount, affectedRows } = answer as ClientAnswer;
      return count ?? rowCount ?? affectedRows;
    },
  };
}

function other(other: OtherConnection): SqlSender | undefined {
  const { dialect } = other;
  if (!['postgres', 'mysql'].includes(dialect)) return undefined;
  return {
    dialect,
    custom: true,
    rows: async (sql, values) => {
      const rows = await other.rows(sql, values);
      if (Array.isArray(rows)) return rows;
      throw new UsageError(`rows() must return a list of rows, not ${show(rows)}.`);
    },
    count: async (sql, values) => countIn(await other.count(sql, values)),
  };
}

/** Libraries return counts in shapes of their own, and an adapter may have passed one on. */
function countIn(answer: unknown): number {
  const count = typeof answer === 'string' && /^\d+$/.test(answer) ? Number(answer) : answer;
  if (typeof count === 'bigint') return Number(count);
  if (Number.isSafeInteger(count) && (count as number) >= 0) return count as number;
  throw new UsageError(`count() must return how many rows were written, not ${show(answer)}.`);
}
