/** Sends statements through an object of any package: one `Client` for them all. */
import { UsageError } from '../../base/errors.ts';
import { randomId } from '../../base/random-id.ts';
import { type Package, type Place, packageOf } from './packages.ts';
import type { Bound, Dialect } from './sql.ts';

/** The abilities of a package's object, in common terms. */
export interface Client {
  readonly dialect: Dialect;
  readonly place: Place;
  rows(sql: string, values: Bound[]): PromiseLike<unknown>;
  count(sql: string, values: Bound[]): PromiseLike<unknown>;
  /** Whether a connection is inside a transaction. */
  begun(): Promise<boolean>;
}

type Answer = Readonly<Record<string, unknown>>;

/** Without `begun`, the place shows whether it is a transaction. */
type Sender = Omit<Client, 'begun' | 'place'> & Partial<Pick<Client, 'begun'>>;

const TAKEN =
  'a connection or pool of pg, postgres, mysql2 or mariadb, a transaction of Kysely or of Drizzle';

/** @throws UsageError if it is of no known package. */
export function clientOf(given: unknown): Client {
  const found = packageOf(given);
  const sender = found && senderOf(given, found.name);
  if (sender)
    return { begun: async () => found.place === 'transaction', ...sender, place: found.place };
  throw new UsageError(`Give ${TAKEN}; for others, { dialect, transaction, rows, count }.`);
}

function senderOf(given: unknown, name: Package): Sender | undefined {
  switch (name) {
    case 'pg':
      return pg(given as Pg);
    case 'postgres':
      return postgres(given as Postgres);
    case 'mysql2':
    case 'mariadb':
      return mysql(given as Mysql);
    case 'kysely':
      return kysely(given as Kysely);
    case 'drizzle':
      return drizzle(given as Drizzle);
    case 'other':
      return other(given as Other);
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
    if ((error as Answer).code === NO_TRANSACTION) return false;
    throw error;
  }
}

interface Pg {
  query(text: string, values?: Bound[]): PromiseLike<Answer>;
  /** From 8.17 on. */
  getTransactionStatus?(): string | null;
}

function pg(client: Pg): Sender {
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

interface Postgres {
  unsafe(text: string, values?: Bound[]): PromiseLike<Answer>;
}

function postgres(sql: Postgres): Sender {
  return {
    dialect: 'postgres',
    rows: (text, values) => sql.unsafe(text, values),
    count: async (text, values) => (await sql.unsafe(text, values)).count,
    begun: () => begunAt(() => sql.unsafe(ONLY_IN_TRANSACTION)),
  };
}

/** `mysql2` and `mariadb`: the same protocol, and nearly the same methods. */
interface Mysql {
  query(options: object): unknown;
  execute(options: object, values: Bound[]): unknown;
  /** mysql2 with callbacks. */
  promise?(): Mysql;
  /** mariadb. */
  readonly info?: { readonly status?: number };
}

/** Flags of the session that the server sends with its replies. */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** Sets the shape of replies, whatever the connection's defaults are. */
const SHAPE = { rowsAsArray: false, nestTables: false, namedPlaceholders: false };

function mysql(client: Mysql): Sender {
  const connection = typeof client.promise === 'function' ? client.promise() : client;
  const send = async (sql: string, values: Bound[] = []): Promise<unknown> => {
    const options = { ...SHAPE, metaAsArray: false, sql };
    const sent =
      values.length === 0 ? connection.query(options) : connection.execute(options, values);
    if (typeof (sent as PromiseLike<unknown>)?.then !== 'function') {
      throw new UsageError('Give a connection of the promise API, not of the callback API.');
    }
    const answer = await (sent as PromiseLike<unknown>);
    return isPair(answer) ? answer[0] : answer;
  };
  return {
    dialect: 'mysql',
    rows: send,
    count: async (sql, values) => {
      const { affectedRows } = (await send(sql, values)) as { readonly affectedRows?: unknown };
      return affectedRows;
    },
    begun: async () => {
      if (isBegun(connection.info?.status ?? AUTOCOMMIT)) return true;
      // A statement that does nothing, for the flags of its reply.
      const { serverStatus } = (await send('DO 0')) as { readonly serverStatus?: number };
      return isBegun(serverStatus ?? connection.info?.status ?? AUTOCOMMIT);
    },
  };
}

/** Without autocommit, the next statement begins a transaction. */
function isBegun(status: number): boolean {
  return (status & IN_TRANSACTION) !== 0 || (status & AUTOCOMMIT) === 0;
}

/** mysql2 returns the rows and the columns; mariadb returns the rows, which are objects. */
function isPair(answer: unknown): answer is [unknown, unknown] {
  if (!Array.isArray(answer) || answer.length !== 2) return false;
  return answer[1] === undefined || Array.isArray(answer[1]);
}

interface Kysely {
  /** Has the properties of the dialect under `adapter`. */
  getExecutor(): Readonly<Record<string, Answer>>;
  executeQuery(query: object): PromiseLike<Answer>;
}

function kysely(db: Kysely): Sender | undefined {
  const dialect = kyselyDialect(db.getExecutor().adapter);
  if (!dialect) return undefined;
  const send = (sql: string, parameters: Bound[]): PromiseLike<Answer> => {
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
function kyselyDialect(has: Answer = {}): Dialect | undefined {
  const { supportsReturning, supportsTransactionalDdl } = has;
  if (supportsReturning !== supportsTransactionalDdl) return undefined;
  return supportsReturning ? 'postgres' : 'mysql';
}

interface Drizzle {
  execute(statement: object): PromiseLike<unknown>;
  /** Of PostgreSQL. */
  readonly refreshMaterializedView?: unknown;
}

function drizzle(db: Drizzle): Sender {
  const dialect = typeof db.refreshMaterializedView === 'function' ? 'postgres' : 'mysql';
  const send = (sql: string, params: Bound[]): PromiseLike<unknown> =>
    // All that Drizzle needs of a statement.
    db.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) });
  return {
    dialect,
    rows: async (sql, values) => {
      const answer = await send(sql, values);
      if (dialect === 'mysql') return (answer as unknown[])[0];
      return Array.isArray(answer) ? answer : (answer as Answer).rows;
    },
    count: async (sql, values) => {
      const answer = await send(sql, values);
      if (dialect === 'mysql') return (answer as Answer[])[0]?.affectedRows;
      // The names in `postgres`, `pg` and PGlite.
      const { count, rowCount, affectedRows } = answer as Answer;
      return count ?? rowCount ?? affectedRows;
    },
  };
}

interface Other {
  readonly dialect: unknown;
  rows(sql: string, values: Bound[]): PromiseLike<unknown>;
  count(sql: string, values: Bound[]): PromiseLike<unknown>;
}

function other(other: Other): Sender | undefined {
  const { dialect } = other;
  if (dialect !== 'postgres' && dialect !== 'mysql') return undefined;
  return {
    dialect,
    rows: (sql, values) => other.rows(sql, values),
    count: (sql, values) => other.count(sql, values),
  };
}
