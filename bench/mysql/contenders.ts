/** Who wants locks of MySQL or MariaDB: the floors, ours and the other library, by name. */
import { kyselyStore } from '@verrou/core/drivers/kysely';
import { mysqlStore } from 'holdfast/mysql';
import { Kysely, MysqlDialect } from 'kysely';
import { createPool as createMariadb } from 'mariadb';
import { createPool as createCallbacks } from 'mysql2';
import { createPool } from 'mysql2/promise';
import { type Connect, type Connected, TTL_MS } from '../contender.ts';
import { locksOf } from '../holdfast.ts';
import { verrouOn } from '../verrou.ts';
import { bareMariadb, bareMysql2, namedLock, namedLockAndRow } from './floors.ts';
import { mariadbUrl, mysqlUrl } from './urls.ts';

/** By the names that the tables show; workers get them as text. */
export const CONTENDERS: Readonly<Record<string, Connect>> = {
  'floor: INSERT … ON DUPLICATE KEY + UPDATE, mysql2': bareMysql2,
  'floor: INSERT … ON DUPLICATE KEY + UPDATE, mariadb': bareMariadb,
  'floor: GET_LOCK': namedLock,
  'GET_LOCK, then a durable row': namedLockAndRow,
  holdfast: (url) => withMysql2(url, false),
  'holdfast, mysql2': (url) => withMysql2(url, false),
  'holdfast, fair': (url) => withMysql2(url, true),
  'holdfast, mariadb': withMariadb,
  '@verrou/core': (url) => verrou(url, false),
  '@verrou/core, tuned': (url) => verrou(url, true),
};

/** Compared with each other, the floor first. */
export const UNCONTENDED: readonly (readonly string[])[] = [
  ['floor: INSERT … ON DUPLICATE KEY + UPDATE, mysql2', 'holdfast, mysql2', '@verrou/core'],
  ['floor: INSERT … ON DUPLICATE KEY + UPDATE, mariadb', 'holdfast, mariadb'],
];

async function withMysql2(url: string, fair: boolean): Promise<Connected> {
  const pool = createPool(mysqlUrl(url));
  return locksOf(mysqlStore(pool, { maxTtl: TTL_MS }), fair, () => pool.end());
}

async function withMariadb(url: string): Promise<Connected> {
  const pool = createMariadb(mariadbUrl(url));
  return locksOf(mysqlStore(pool, { maxTtl: TTL_MS }), false, () => pool.end());
}

async function verrou(url: string, tuned: boolean): Promise<Connected> {
  const pool = createCallbacks({ uri: mysqlUrl(url), ...(tuned && { connectionLimit: 25 }) });
  const connection = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) });
  return verrouOn(kyselyStore({ connection }), tuned, () => connection.destroy());
}
