/**
 * The store that `table+postgres:`, `table+mysql:` or `table+mariadb:` names, and its table: a URL
 * of that database, with `table` in its query.
 */
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import * as mysql from '../../clients/mysql/by-url.ts';
import * as postgres from '../../clients/postgres/by-url.ts';
import type { SqlDatabase } from '../../clients/sql/clients.ts';
import { connectionOf } from '../../clients/sql/connection.ts';
import { sqlFacts } from '../../clients/sql/server-facts.ts';
import type { Dialect } from '../../clients/sql/sql.ts';
import type { Store } from '../../contract/store.ts';
import { closingAlso, splitQuery } from '../url-options.ts';
import { checkTable, TABLE } from './documents.ts';
import { type TableStoreOptions, tableSchema, tableStore } from './index.ts';

const OPTIONS = ['table', 'maxWaiters'];

/** @throws UsageError for a malformed URL, UnsupportedError if no client is installed. */
export async function openUrl(scheme: string, rest: string): Promise<Store> {
  const { options, client } = read(scheme, rest);
  const db = await client();
  return closingAlso(tableStore(db, options), db);
}

export async function migrate(scheme: string, rest: string, table?: string): Promise<void> {
  const { options, client } = read(scheme, rest);
  const db = await client();
  const connection = connectionOf(db);
  const made = connection.count(table ?? migrationText(scheme, rest));
  const making = table ? made : made.then(() => checkTable(connection, options.table));
  await making.finally(() => db.end());
}

export async function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { dialect, options, client } = read(scheme, rest);
  const found = await sqlFacts(await client(), dialect);
  return { ...found, tables: `the table ${options.table ?? TABLE}` };
}

export function migrationText(scheme: string, rest: string): string {
  const { dialect, options } = read(scheme, rest);
  return tableSchema(dialect, options.table);
}

function read(scheme: string, rest: string) {
  const database = scheme.replace('table+', '');
  const dialect: Dialect = database.startsWith('postgres') ? 'postgres' : 'mysql';
  const split = dialect === 'postgres' ? postgres.splitUrl(rest) : mysql.splitUrl(rest);
  const { options, url } = splitQuery<TableStoreOptions>(split, OPTIONS);
  return {
    dialect,
    options,
    client: (): Promise<SqlDatabase & { end(): unknown }> =>
      dialect === 'postgres' ? postgres.clientByUrl(url) : mysql.clientByUrl(database, url),
  };
}
