/** The store that a MySQL or MariaDB URL names, and its tables. */
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import { clientByUrl, splitUrl } from '../../clients/mysql/by-url.ts';
import { sqlFacts } from '../../clients/sql/server-facts.ts';
import type { Store } from '../../contract/store.ts';
import { SQL } from '../sql/options.ts';
import { closingAlso, splitQuery } from '../url-options.ts';
import { PREFIX } from './fragments.ts';
import { LAYOUT } from './history.ts';
import { type MysqlOptions, migrateMysql, mysqlMigration, mysqlStore } from './index.ts';
import { runAlone } from './migration.ts';

/** Options of the store, in the query of the URL; the others are the client's. */
const OPTIONS = [...Object.keys(SQL), 'prefix'];

/** @throws UsageError for a malformed URL, UnsupportedError if no client is installed. */
export async function openUrl(scheme: string, rest: string): Promise<Store> {
  const { url, options } = read(rest);
  const client = await clientByUrl(scheme, url);
  return closingAlso(mysqlStore(client, options), client);
}

export async function migrate(scheme: string, rest: string, table?: string): Promise<void> {
  const { url, prefix } = read(rest);
  const client = await clientByUrl(scheme, url);
  const making = table
    ? runAlone(client, (connection) => connection.query(table))
    : migrateMysql(client, { prefix });
  await making.finally(() => client.end());
}

export async function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { url, prefix } = read(rest);
  const tables = `${prefix}…, layout ${LAYOUT}`;
  return { ...(await sqlFacts(await clientByUrl(scheme, url), 'mysql')), tables };
}

export function migrationText(_scheme: string, rest: string): string {
  const { prefix } = read(rest);
  return mysqlMigration({ prefix });
}

function read(rest: string) {
  const found = splitQuery<MysqlOptions>(splitUrl(rest), OPTIONS);
  return { ...found, prefix: found.options.prefix ?? PREFIX };
}
