/** The supported clients, and how each connects. */
import { UsageError } from '../../base/errors.ts';
import { has, isObject, type Members, notAClient, over, refuseText } from '../members.ts';
import { connectThrough, type OrmWithPool, WITH_POOL } from '../sql/orm-pools.ts';
import { packageOf } from '../sql/packages.ts';
import type { ConnectPostgres } from './connection.ts';
import { type PgClient, type PgPoolClient, pgConnect } from './pg-connection.ts';
import { type PostgresJs, postgresJsConnect } from './postgres-js-connection.ts';

/**
 * A `Pool` or `Client` of `pg` (8.11 and newer), what `postgres()` of the package `postgres`
 * (postgres.js, 3.4 and newer) gives, or an ORM that has a pool.
 */
export type PostgresClient = PgPoolClient | PgClient | PostgresJs | OrmWithPool;

const EXPECTED = {
  what: 'A PostgreSQL client',
  clients:
    'a Pool or Client of pg, or what postgres() of the package postgres gives (the one that' +
    ` Kysely, Drizzle or Prisma was given), or ${WITH_POOL}`,
};

/** @throws UsageError if it is not a client of these packages, or has ended. */
export function connectLike(client: PostgresClient): ConnectPostgres {
  refuseText(client, EXPECTED);
  return connectThrough(client, 'postgres', likeClient);
}

function likeClient(client: unknown): ConnectPostgres {
  const { name, place } = packageOf(client) ?? {};
  if (name === 'postgres') {
    checkPostgresJs(client as Members, place);
    return postgresJsConnect(client as PostgresJs);
  }
  const like = likeWhat(client);
  if (like && !has(like, 'getStartupConf')) {
    throw new UsageError('The client is of pg-native, which is not supported: give one of pg.');
  }
  if (!like || name !== 'pg') throw notAClient(client, EXPECTED);
  checkPg(client as Members);
  return pgConnect(client as PgPoolClient | PgClient);
}

/** The client of `pg`, or the prototype of those that the pool makes. */
function likeWhat(client: unknown): unknown {
  if (!has(client, 'connect', 'query', 'end')) return undefined;
  if (has(client, 'Client')) return (client.Client as { prototype?: unknown }).prototype;
  return isObject(client.connectionParameters) ? client : undefined;
}

function checkPg(client: Members): void {
  if (client.ending || client.ended || client._ending || client._ended) throw over('has ended');
  const { getTransactionStatus } = client;
  const status = typeof getTransactionStatus === 'function' && getTransactionStatus.call(client);
  if (status === 'T' || status === 'E') throw inTransaction();
}

/** A transaction and a reserved connection are functions as well, and have no options. */
function checkPostgresJs(client: Members, place: string | undefined): void {
  if (place === 'transaction') throw inTransaction();
  if (place === 'connection') {
    throw new UsageError('The client is a reserved connection: give the client that it came from.');
  }
  const { host, port } = (client.options ?? {}) as Members;
  if (has(client, 'reserve', 'end') && Array.isArray(host) && Array.isArray(port)) return;
  throw notAClient(client, EXPECTED);
}

function inTransaction(): UsageError {
  const message = 'The client is in a transaction, and the locks would not be part of it';
  return new UsageError(`${message}: give the pool, or what postgres() gave.`);
}
