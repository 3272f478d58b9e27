/** The supported clients, and how each connects. */
import { has, notAClient, over, refuseText } from '../members.ts';
import { connectThrough, type OrmWithPool, WITH_POOL } from '../sql/orm-pools.ts';
import { packageOf } from '../sql/packages.ts';
import type { ConnectMysql } from './connection.ts';
import { type MariadbClient, mariadbConnect } from './mariadb-connection.ts';
import { coreOf, type Mysql2Client, mysql2Connect } from './mysql2-connection.ts';

/**
 * A pool or connection of `mysql2` (3.11 and newer) or `mariadb` (3.4 and newer), with callbacks or
 * promises, or an ORM that has a pool.
 */
export type MysqlClient = Mysql2Client | MariadbClient | OrmWithPool;

const EXPECTED = {
  what: 'A MySQL or MariaDB client',
  clients:
    'a pool or connection of mysql2 or mariadb, with callbacks or promises (the one that Kysely,' +
    ` Drizzle or Prisma was given), or ${WITH_POOL}`,
};

/** @throws UsageError if it is not a client of these packages, or has ended. */
export function connectLike(client: MysqlClient): ConnectMysql {
  refuseText(client, EXPECTED);
  return connectThrough(client, 'mysql', likeClient);
}

function likeClient(client: unknown): ConnectMysql {
  const name = packageOf(client)?.name;
  if (name === 'mysql2' && has(client, 'end', 'format', 'on')) {
    const core = coreOf(client);
    if (!core) throw notAClient(client, EXPECTED);
    if (core._closed || core._closing) throw over('has ended');
    return mysql2Connect(core);
  }
  if (name !== 'mariadb' || !has(client, 'end', 'escapeId')) throw notAClient(client, EXPECTED);
  const { closed, isValid } = client;
  const valid = typeof isValid === 'function' ? isValid.call(client) : true;
  // A pool has no threads.
  if (closed === true || ('threadId' in client && valid === false)) throw over('has ended');
  return mariadbConnect(client);
}
