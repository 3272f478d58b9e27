/**
 * Pools of ORMs, for stores, which open connections of their own like those of the user's pool.
 *
 * TypeORM and Drizzle show the pool of a client package, which counts as if it had been given. The
 * pools of Knex and Sequelize lend connections of `pg`, `mysql2` or `mariadb`, which show how they
 * were made. What an ORM has set for its own queries does not matter: stores set all of it anew.
 * What would break it: a password that changes, since a connection has that of its own time.
 */
import { UsageError } from '../../base/errors.ts';
import { learntOnLoan } from './loan.ts';
import { dialectOf, type LendingPool, ormOf, packageOf } from './packages.ts';
import type { Dialect } from './sql.ts';

/** `knex`, TypeORM's `dataSource`, `sequelize`, MikroORM's `em`, or Drizzle's `db`. */
export type OrmWithPool =
  | { readonly client: object; batchInsert(...rows: never[]): unknown }
  | { readonly isInitialized: boolean; getRepository(...target: never[]): unknown }
  | { authenticate(...options: never[]): Promise<void>; getQueryInterface(): object }
  | { isInTransaction(): boolean; getTransactionContext(): unknown }
  | { execute(...query: never[]): unknown; readonly $client: object };

export const WITH_POOL: string =
  'an instance of Knex or Sequelize 6, an initialized DataSource of TypeORM, em of MikroORM 6, or' +
  ' db of Drizzle, each outside of transactions';

/** @throws UsageError also for an ORM that shows no pool, or is on another database. */
export function connectThrough<Terms extends { readonly signal: AbortSignal }, Session>(
  given: unknown,
  dialect: Dialect,
  like: (client: unknown) => (terms: Terms) => Promise<Session>,
): (terms: Terms) => Promise<Session> {
  if (packageOf(given)?.place !== 'pool') return like(given);
  const orm = ormOf(given);
  const below = orm ? orm.pool?.(given) : (given as { readonly $client?: unknown }).$client;
  if (below) return connectThrough(below, dialect, like);
  const pool = orm?.lends?.(given);
  if (!orm || !pool) return like(given);
  if (dialectOf(orm, given) !== dialect) {
    throw new UsageError(`The store is for ${dialect}, but ${orm.title} is on another database.`);
  }
  const likeLent = learntOnLoan(orm.title, () => borrowed(pool, like), pool.lent);
  return async (terms) => (await likeLent(terms.signal))(terms);
}

async function borrowed<T>(pool: LendingPool, read: (connection: object) => T): Promise<T> {
  const connection = await pool.take();
  try {
    return read(connection);
  } finally {
    await pool.giveBack(connection);
  }
}
