/**
 * The caller's connection, transaction or pool, through which statements are sent. Each package's
 * own types fit these without a cast. Their members distinguish them, never `instanceof`: a program
 * may have two copies of a package.
 */

/**
 * Any other library, in two functions: one for statements that return rows, one for those that
 * count them. `values` go where the statement has `$1` (PostgreSQL) or `?` (MySQL).
 */
export interface OtherConnection {
  readonly dialect: 'postgres' | 'mysql';
  /** Whether all its statements are in one transaction. */
  readonly transaction: boolean;
  rows(sql: string, values: unknown[]): PromiseLike<unknown>;
  /** How many rows it has written: not a library's own answer, which is an object or a list. */
  count(sql: string, values: unknown[]): PromiseLike<number | bigint | string>;
}

/** A client inside one transaction, which the caller has begun. */
export type SqlTransaction =
  // `pg`: a `Client` or `PoolClient` on which BEGIN was sent.
  | { query(...statement: never[]): unknown; escapeIdentifier(name: string): string }
  // `postgres`: the `sql` that `sql.begin` gives.
  | { unsafe(...statement: never[]): unknown; savepoint(...work: never[]): unknown }
  // `mysql2` (promises or callbacks) and `mariadb`: a connection in a transaction.
  | { execute(...statement: never[]): unknown; beginTransaction(...done: never[]): unknown }
  // Kysely.
  | { readonly isTransaction: true; getExecutor(): object; executeQuery(...q: never[]): unknown }
  // Drizzle, for `node-postgres`, `postgres-js`, `mysql2` and whatever else has `execute`.
  | { execute(...query: never[]): unknown; rollback(): never }
  // Knex and Objection: the `trx` of a transaction, on `pg`, `mysql2` or `mariadb`.
  | { readonly client: object; readonly executionPromise: Promise<unknown>; isCompleted(): boolean }
  // TypeORM: the `manager` of a transaction, on `pg` or `mysql2`.
  | {
      readonly queryRunner?: { connect(): Promise<unknown> };
      getRepository(...target: never[]): unknown;
    }
  // Sequelize: the transaction, on `pg`, `mysql2` or `mariadb`.
  | { commit(): Promise<void>; afterCommit(...listener: never[]): unknown }
  // MikroORM: the `em` of a transaction, on PostgreSQL, MySQL or MariaDB.
  | { isInTransaction(): boolean; getTransactionContext(): unknown }
  // Prisma: the `tx` of an interactive transaction; the client itself is in no transaction.
  | {
      $queryRawUnsafe(...statement: never[]): PromiseLike<unknown>;
      $executeRawUnsafe(...statement: never[]): PromiseLike<number>;
      readonly $connect?: never;
    }
  | OtherConnection;

/** A client that sends a single statement, in a transaction or not. */
export type SqlDatabase =
  | SqlTransaction
  // `pg`: a `Pool`.
  | { query(...statement: never[]): unknown; readonly totalCount: number }
  // `postgres`: the `sql` that `postgres()` or `sql.reserve()` gives.
  | { unsafe(...statement: never[]): unknown }
  // `mysql2` and `mariadb`: a pool.
  | { execute(...statement: never[]): unknown; getConnection(...done: never[]): unknown }
  // Kysely.
  | { readonly isTransaction: boolean; getExecutor(): object; executeQuery(...q: never[]): unknown }
  // Drizzle.
  | { execute(...query: never[]): unknown; transaction(...work: never[]): Promise<unknown> };
