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
  const { url, options } = read(rest);
  const client = await clientByUrl(scheme, url);
  const making = table
    ? runAlone(client, (connection) => connection.query(table))
    : migrateMysql(client, prefixIn(options));
  await making.finally(() => client.end());
}

export async function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { url, options } = read(rest);
  const tables = `${options.prefix ?? PREFIX}…, layout ${LAYOUT}`;
  return { ...(await sqlFacts(await clientByUrl(scheme, url), 'mysql')), tables };
}

export function migrationText(_scheme: string, rest: string): string {
  return mysqlMigration(prefixIn(read(rest).options));
}

function prefixIn({ prefix }: MysqlOptions): { readonly prefix?: string } {
  return prefix === undefined ? {} : { prefix };
}

function read(rest: string): { readonly url: string; readonly options: MysqlOptions } {
  return splitQuery<MysqlOptions>(splitUrl(rest), OPTIONS);
}
