/**
 * The package that a database client comes from; and ORMs: their transactions, and their pools.
 *
 * Knex, TypeORM and Sequelize show the connection that a transaction runs on, a client of `pg`,
 * `mysql2` or `mariadb`: statements go straight to it, because what an ORM answers differs by kind
 * of statement and version. MikroORM shows a transaction of Knex or Kysely. Prisma shows nothing,
 * so its own methods send.
 */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { has } from '../members.ts';
import type { ClientScope, SqlSender } from './client.ts';
import type { Bound, Dialect } from './sql.ts';

export type Package =
  | 'pg'
  | 'postgres'
  | 'mysql2'
  | 'mariadb'
  | 'kysely'
  | 'drizzle'
  | 'orm'
  | 'other';

export interface Recognised {
  readonly name: Package;
  readonly place: ClientScope;
}

/** The first that fits counts: some have the methods of others as well. */
export function packageOf(client: unknown): Recognised | undefined {
  const inside = (yes: boolean): ClientScope => (yes ? 'transaction' : 'pool');
  if (has(client, 'rows', 'count')) {
    return { name: 'other', place: inside(client.transaction === true) };
  }
  const orm = ormOf(client);
  if (orm) return { name: 'orm', place: inside(orm.inside(client)) };
  if (has(client, 'getExecutor', 'executeQuery')) {
    return { name: 'kysely', place: inside(client.isTransaction === true) };
  }
  if (has(client, 'execute', 'select', 'transaction')) {
    return { name: 'drizzle', place: inside(has(client, 'rollback')) };
  }
  if (has(client, 'unsafe')) {
    const reserved = has(client, 'release') && !has(client, 'savepoint');
    return { name: 'postgres', place: reserved ? 'connection' : inside(has(client, 'savepoint')) };
  }
  if (has(client, 'query', 'escapeIdentifier')) return { name: 'pg', place: 'connection' };
  if (has(client, 'query', 'connect') && 'totalCount' in client) {
    return { name: 'pg', place: 'pool' };
  }
  if (!has(client, 'query', 'execute')) return undefined;
  const name = has(client, 'batch') ? 'mariadb' : 'mysql2';
  if (has(client, 'beginTransaction')) return { name, place: 'connection' };
  return has(client, 'getConnection') ? { name, place: 'pool' } : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: an ORM's own object, recognised by its methods.
type Given = any;

export interface Orm {
  /** As users write it. */
  readonly title: string;
  /** The methods that tell its transactions and databases from others'. */
  readonly methods: readonly string[];
  inside(given: Given): boolean;
  /** What it calls the database. Default: that of the transaction below, which is at hand. */
  readonly speaks?: (given: Given) => unknown;
  /** The connection or transaction below. Without it, the ORM sends by itself. */
  readonly below?: (given: Given) => unknown;
  /** The pool of a client package, or the ORM below, if it shows one. */
  readonly pool?: (given: Given) => unknown;
  /** Its own pool, unless it is a transaction's. */
  readonly lends?: (given: Given) => LendingPool | false | undefined;
}

export interface LendingPool {
  take(): PromiseLike<object>;
  giveBack(connection: object): unknown;
  lent(): number;
}

const rejectInner = (error: Given): Promise<never> => Promise.reject(error.original ?? error);
const OUTSIDE = 'outside of one, a pool of pg, postgres, mysql2 or mariadb';

const ORMS: readonly Orm[] = [
  {
    title: 'Prisma',
    methods: ['$queryRawUnsafe', '$executeRawUnsafe'],
    inside: (tx) => typeof tx.$connect !== 'function',
    speaks: (tx) => tx._activeProvider,
  },
  {
    title: 'MikroORM',
    methods: ['getTransactionContext', 'isInTransaction'],
    inside: (entities) => entities.isInTransaction(),
    below: (entities) => entities.getTransactionContext(),
    pool: (entities) => entities.getConnection().getKnex?.(),
  },
  {
    title: 'Sequelize',
    methods: ['authenticate', 'getQueryInterface'],
    inside: () => false,
    speaks: (sequelize) => sequelize.getDialect(),
    lends: ({ connectionManager: pools }) =>
      pools && {
        // It wraps what the server or the client says.
        take: () => pools.getConnection({ type: 'write' }).catch(rejectInner),
        giveBack: (connection) => pools.releaseConnection(connection),
        lent: () => (pools.pool.write ?? pools.pool).using,
      },
  },
  {
    title: 'TypeORM',
    methods: ['getRepository', 'query'],
    inside: (entities) => entities.queryRunner?.isTransactionActive === true,
    speaks: (entities) => (entities.dataSource ?? entities.connection).options.type,
    below: (entities) => entities.queryRunner.connect(),
    // Of a DataSource, not of its managers.
    pool: ({ driver }) => driver?.master ?? driver?.pool,
  },
  {
    title: 'Knex',
    methods: ['raw', 'transaction', 'batchInsert'],
    inside: (trx) => trx.isCompleted?.() === false,
    speaks: (trx) => trx.client.driverName,
    below: (trx) => trx.client.acquireConnection(),
    lends: ({ client, isCompleted }) =>
      !isCompleted && {
        take: () => client.acquireConnection(),
        giveBack: (connection) => client.releaseConnection(connection),
        lent: () => client.pool.numUsed(),
      },
  },
  {
    title: 'Sequelize',
    methods: ['commit', 'afterCommit'],
    inside: (transaction) => transaction.connection !== undefined && !transaction.finished,
    speaks: (transaction) => transaction.sequelize.getDialect(),
    below: (transaction) => transaction.connection,
  },
];

export function ormOf(given: unknown): Orm | undefined {
  return ORMS.find(({ methods }) => has(given, ...methods));
}

/** @throws UsageError outside of a transaction, or on another database. */
export function ormSender(given: Given, senderFor: (below: unknown) => SqlSender): SqlSender {
  const orm = ormOf(given) as Orm;
  const { title, inside, speaks, below } = orm;
  const mustBeInside = (): void => {
    if (!inside(given)) throw new UsageError(`Of ${title}, give the transaction; ${OUTSIDE}.`);
  };
  mustBeInside();
  if (!speaks) return senderFor(below?.(given));
  const dialect = dialectOf(orm, given);
  if (!below) return prisma(given, dialect);
  let opened: Promise<SqlSender> | undefined;
  const sender = (): Promise<SqlSender> => {
    // The connection goes back to the pool with the end of the transaction.
    mustBeInside();
    opened ??= Promise.resolve(below(given)).then(senderFor);
    return opened;
  };
  return {
    dialect,
    rows: async (sql, values) => (await sender()).rows(sql, values),
    count: async (sql, values) => (await sender()).count(sql, values),
  };
}

/** @throws UsageError on another database. */
export function dialectOf({ title, speaks }: Orm, given: Given): Dialect {
  const spoken = speaks?.(given);
  if (/^(pg|postgres)/i.test(String(spoken))) return 'postgres';
  if (/^(mysql|mariadb)/i.test(String(spoken))) return 'mysql';
  throw new UsageError(`${title} is on ${show(spoken)}, neither PostgreSQL nor MySQL.`);
}

function prisma(tx: Given, dialect: Dialect): SqlSender {
  return {
    dialect,
    rows: (sql: string, values: Bound[]) => tx.$queryRawUnsafe(sql, ...values),
    count: (sql: string, values: Bound[]) => tx.$executeRawUnsafe(sql, ...values),
  };
}
