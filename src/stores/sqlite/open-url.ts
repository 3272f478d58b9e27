import { UsageError } from '../../base/errors.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import { openConnection, openSqlite, untilFree } from '../../clients/sqlite/connection.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type SqliteOptions, sqliteStore } from './index.ts';

/** The path of a file as it is, perhaps behind slashes, and options of the store as the query. */
export function openUrl(_scheme: string, rest: string): Store {
  const { file, query } = read(rest);
  return sqliteStore(file, optionsFrom<SqliteOptions>(new URLSearchParams(query)));
}

/** The locks make their own tables. Others may be at work on the file for 5 s. */
export async function migrate(_scheme: string, rest: string, table = ''): Promise<void> {
  const { file } = read(rest);
  const database = await openSqlite(file);
  await untilFree(file, 5_000, () => database.exec(table)).finally(() => database.close());
}

/** The version of the library that opens the file. */
export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const connection = await openConnection(read(rest).file, 0);
  try {
    const [row] = connection.all('SELECT sqlite_version() AS version');
    return { version: `SQLite ${(row as { readonly version: string }).version}` };
  } finally {
    connection.close();
  }
}

function read(rest: string): { readonly file: string; readonly query: string } {
  const [, file = '', query = ''] = /^(?:\/\/)?([^?]*)\??(.*)$/s.exec(rest) ?? [];
  if (file === '') throw new UsageError(`'sqlite:' needs a file, as in 'sqlite:./locks.db'.`);
  return { file, query };
}
