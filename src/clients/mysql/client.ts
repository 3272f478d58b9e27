/** The supported clients, and how each connects. */
import { checkClient } from './check-client.ts';
import type { ConnectMysql } from './connection.ts';
import { type MariadbClient, mariadbConnect } from './mariadb-connection.ts';
import { coreOf, type Mysql2Client, mysql2Connect } from './mysql2-connection.ts';

/**
 * A pool or connection of `mysql2` (3.11 and newer) or `mariadb` (3.4 and newer), with callbacks or
 * promises.
 */
export type MysqlClient = Mysql2Client | MariadbClient;

/**
 * Opens no connection yet.
 * @throws UsageError if it is not a client of these packages, or has ended.
 */
export function connectLike(client: MysqlClient): ConnectMysql {
  if (checkClient(client) === 'mariadb') return mariadbConnect(client);
  return mysql2Connect(coreOf(client) as NonNullable<ReturnType<typeof coreOf>>);
}
