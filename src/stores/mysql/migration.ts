/**
 * Makes the tables of the locks, or brings them up to date.
 *
 * In MySQL each such statement is a transaction of its own, so they run one after the other under a
 * named lock, since programs of a deployment may do it at the same time. Tables that a newer
 * version made stay as they are, and so do others' tables of the same names: a program may have a
 * `shop_lock` or a `shop_store`.
 */
import { checkOptions } from '../../base/options.ts';
import { connectLike, type MysqlClient } from '../../clients/mysql/client.ts';
import { literal, type MysqlSession } from '../../clients/mysql/connection.ts';
import { judge, MYSQL, numberOf } from '../../clients/mysql/errors.ts';
import { anotherLayout } from '../../clients/sql/judge.ts';
import { columnOf } from '../../clients/sql/session.ts';
import { permanentFailure, temporaryFailure } from '../../contract/errors.ts';
import { checkPrefix, PREFIX } from './fragments.ts';
import { historyOf, LAYOUT } from './history.ts';
import schema from './schema.sql';

export interface MysqlMigrationOptions {
  /** The prefix of the tables; default `holdfast_`. */
  readonly prefix?: string;
}

const CHECKS = { prefix: checkPrefix };
const CONNECT_MS = 5000;
/** The tables, each with a column that no other table of that name is likely to have. */
const OURS = { store: 'open_at', lock: 'crowd', news: 'nth', kept: 'until' } as const;
/** How long another program's migration may take, in s. */
const TURN_S = 30;
/** How long a statement may wait for a table that is in use, in s. */
const IN_USE_S = 30;
/** The table does not exist yet. */
const NO_TABLE = 1146;

/**
 * The SQL that `migrateMysql` runs, for the program `mysql` or `mariadb`. It does not notice other
 * tables of the same names, which `migrateMysql` refuses.
 *
 * @example
 * import { mysqlMigration } from 'holdfast/mysql';
 *
 * console.log(mysqlMigration({ prefix: 'locks_' }));
 *
 * @throws UsageError for a malformed prefix.
 */
export function mysqlMigration(options: MysqlMigrationOptions = {}): string {
  return textOf(checkOptions(options, CHECKS, 'mysqlMigration').prefix);
}

/**
 * Makes the tables that `mysqlStore` needs in the database of this client, or brings them up to
 * date. Doing it again, also while locks are in use, changes nothing. Its user must be allowed to
 * create tables.
 *
 * @example
 * import { migrateMysql } from 'holdfast/mysql';
 *
 * await migrateMysql(mysql); // once, where the other tables are made, too
 *
 * @throws UsageError for anything but a client, StoreError if the database refuses.
 */
export async function migrateMysql(
  client: MysqlClient,
  options: MysqlMigrationOptions = {},
): Promise<void> {
  const { prefix } = checkOptions(options, CHECKS, 'migrateMysql');
  await runAlone(client, (connection) => migrate(connection, prefix));
}

/** Over a connection of its own. @throws what `migrateMysql` throws. */
export async function runAlone(
  client: MysqlClient,
  run: (connection: MysqlSession) => Promise<unknown>,
): Promise<void> {
  const connect = connectLike(client);
  try {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const connection = await connect({ signal, lost: () => {} });
    await run(connection).finally(() => connection.end());
  } catch (error) {
    throw judge(error, 'open').error;
  }
}

async function migrate(connection: MysqlSession, prefix: string): Promise<void> {
  const turn = literal(`${prefix}migration`);
  const [[free] = []] = await connection.query(`SELECT GET_LOCK(${turn}, ${TURN_S})`);
  if (free !== '1') {
    throw temporaryFailure('Another program has been migrating the database for too long.');
  }
  await refuseOthers(connection, prefix);
  const [[layout = '0'] = []] = await connection
    .query(`SELECT COALESCE(MAX(layout), 0) FROM ${prefix}store`)
    .catch((error: unknown) => {
      if (numberOf(error) === NO_TABLE) return [];
      throw error;
    });
  if (Number(layout) > LAYOUT) throw anotherLayout(MYSQL, String(layout), LAYOUT);
  await connection.query(`SET autocommit = 1, lock_wait_timeout = ${IN_USE_S}`);
  for (const statement of textOf(prefix).split(/;$/m)) {
    if (statement.trim() !== '') await connection.query(statement);
  }
}

/** The statements would take tables of others for those of before. @throws StoreError */
async function refuseOthers(connection: MysqlSession, prefix: string): Promise<void> {
  const ours = Object.entries(OURS).map(([name, has]) => [`'${prefix}${name}'`, `'${has}'`]);
  const names = ours.map(([name]) => name).join(', ');
  const columns = ours.map((both) => `(${both.join(', ')})`).join(', ');
  const others = await connection.query(`SELECT table_name FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name IN (${names})
  GROUP BY table_name HAVING SUM((table_name, column_name) IN (${columns})) = 0
  ORDER BY table_name`);
  if (others.length === 0) return;
  const found = columnOf(others).join(', ');
  const message = `There are other tables with the names of Holdfast's: ${found}.`;
  throw permanentFailure(`${message} Give Holdfast another prefix.`);
}

function textOf(prefix: string): string {
  return schema.replace('HISTORY', historyOf('holdfast_store')).replaceAll(PREFIX, prefix);
}
