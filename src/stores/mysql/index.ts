/** Locks between machines, in MySQL or MariaDB. */
import { systemClock } from '../../base/clock.ts';
import { checkOptions } from '../../base/options.ts';
import { connectLike, type MysqlClient } from '../../clients/mysql/client.ts';
import type { Store } from '../../contract/store.ts';
import { linkOf } from '../sql/link.ts';
import { SQL, type SqlOptions, settingsOf } from '../sql/options.ts';
import { SqlRowStore } from '../sql/row-store.ts';
import { Table } from '../sql/table.ts';
import { checkPrefix } from './fragments.ts';
import { sourceOf } from './source.ts';

export type { MysqlClient } from '../../clients/mysql/client.ts';
export {
  type MysqlMigrationOptions as MigrationOptions,
  migrateMysql,
  mysqlMigration,
} from './migration.ts';

export interface MysqlOptions extends SqlOptions {
  /** The prefix of the tables that `holdfast migrate` made; default `holdfast_`. */
  readonly prefix?: string;
}

const CHECKS = { ...SQL, prefix: checkPrefix };

/**
 * A store in the database of this client, an object of the package `mysql2` or `mariadb` or an ORM
 * with a pool, where `holdfast migrate` has run. It opens connections of its own with the same
 * settings: one for claims, one for heartbeats and, once a claim may wait, one that sleeps until it
 * is woken; closing the locks closes those, never the client.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { mysqlStore } from 'holdfast/mysql';
 * import { createPool } from 'mysql2/promise';
 *
 * const locks = createLocks(mysqlStore(createPool('mysql://app:secret@localhost/shop')));
 *
 * @throws UsageError for anything but such a client, or for bad options.
 */
export function mysqlStore(client: MysqlClient, options: MysqlOptions = {}): Store {
  const { prefix, ...given } = checkOptions(options, CHECKS, 'mysqlStore');
  const settings = settingsOf(given);
  const { maxTtlMs } = settings;
  const source = sourceOf(connectLike(client), { prefix, maxTtlMs });
  const question = 'Is it a MySQL or MariaDB server?';
  const link = linkOf({ ...source, place: client, question });
  return new SqlRowStore({
    ...settings,
    name: 'mysql',
    lineage: `mysql:${prefix}`,
    table: new Table({ link, maxTtlMs, fast: false, listOf: JSON.stringify }),
    clock: systemClock(),
  });
}
