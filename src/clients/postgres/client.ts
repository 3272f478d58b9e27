/** The supported clients, and how each connects. */
import { checkClient } from './check-client.ts';
import type { ConnectPostgres } from './connection.ts';
import { type PgClient, type PgPoolClient, pgConnect } from './pg-connection.ts';
import { type PostgresJs, postgresJsConnect } from './postgres-js-connection.ts';

/**
 * A `Pool` or `Client` of `pg` (8.11 and newer), or what `postgres()` of the package `postgres`
 * (postgres.js, 3.4 and newer) gives.
 */
export type PostgresClient = PgPoolClient | PgClient | PostgresJs;

/**
 * Opens no connection yet.
 * @throws UsageError if it is not a client of these packages, or has ended.
 */
export function connectLike(client: PostgresClient): ConnectPostgres {
  return checkClient(client) === 'pg'
    ? pgConnect(client as PgPoolClient | PgClient)
    : postgresJsConnect(client as PostgresJs);
}
