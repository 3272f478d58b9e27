/**
 * Transactions of ORMs.
 *
 * Knex, TypeORM and Sequelize show the connection that a transaction runs on, a client of `pg`,
 * `mysql2` or `mariadb`: statements go straight to it, because what an ORM answers differs by kind
 * of statement and version. MikroORM shows a transaction of Knex or Kysely. Prisma shows nothing,
 * so its own methods send.
 */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { has } from '../members.ts';
import type { SqlSender } from './client.ts';
import type { Bound, Dialect } from './sql.ts';

// biome-ignore lint/suspicious/noExplicitAny: an ORM's own object, recognised by its methods.
type Given = any;

export interface Orm {
  /** As users write it. */
  readonly title: string;
  /** The methods that tell its transactions and databases from others'. */
  readonly methods: readonly string[];
  /** Whether a transaction is open. */
  inside(given: Given): boolean;
  /** What it calls the database. Default: that of the transaction below, which is at hand. */
  readonly speaks?: (given: Given) => unknown;
  /** The connection or transaction below. Without it, the ORM sends by itself. */
  readonly below?: (given: Given) => unknown;
}

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
  },
  {
    title: 'TypeORM',
    methods: ['getRepository', 'query'],
    inside: (entities) => entities.queryRunner?.isTransactionActive === true,
    speaks: (entities) => (entities.dataSource ?? entities.connection).options.type,
    below: (entities) => entities.queryRunner.connect(),
  },
  {
    title: 'Knex',
    methods: ['raw', 'transaction', 'batchInsert'],
    inside: (trx) => trx.isCompleted?.() === false,
    speaks: (trx) => trx.client.driverName,
    below: (trx) => trx.client.acquireConnection(),
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

/**
 * @param senderFor that of what is below.
 * @throws UsageError outside of a transaction, or on another database.
 */
export function ormSender(given: Given, senderFor: (below: unknown) => SqlSender): SqlSender {
  const { title, inside, speaks, below } = ormOf(given) as Orm;
  const mustBeInside = (): void => {
    if (!inside(given)) throw new UsageError(`Of ${title}, give the transaction.`);
  };
  mustBeInside();
  if (!speaks) return senderFor(below?.(given));
  const spoken = speaks(given);
  const dialect = dialectOf(String(spoken));
  if (!dialect) {
    throw new UsageError(`${title} is on ${show(spoken)}, neither PostgreSQL nor MySQL.`);
  }
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

function dialectOf(spoken: string): Dialect | undefined {
  if (/^(pg|postgres)/i.test(spoken)) return 'postgres';
  return /^(mysql|mariadb)/i.test(spoken) ? 'mysql' : undefined;
}

function prisma(tx: Given, dialect: Dialect): SqlSender {
  return {
    dialect,
    rows: (sql: string, values: Bound[]) => tx.$queryRawUnsafe(sql, ...values),
    count: (sql: string, values: Bound[]) => tx.$executeRawUnsafe(sql, ...values),
  };
}
