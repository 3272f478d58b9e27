/** The store that a PostgreSQL URL names, and its tables. */
import { clientByUrl, splitUrl } from '../../clients/postgres/by-url.ts';
import type { Store } from '../../contract/store.ts';
import { SQL } from '../sql/options.ts';
import { splitQuery } from '../url-options.ts';
import {
  migratePostgres,
  type PostgresOptions,
  postgresMigration,
  postgresStore,
} from './index.ts';

/** Options of the store, in the query of the URL; the others are the client's. */
const OPTIONS = [...Object.keys(SQL), 'schema', 'durability'];

/**
 * The store connects with its first verb.
 * @throws UsageError for a malformed URL, UnsupportedError if no client is installed.
 */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { url, options } = read(rest);
  return postgresStore(await clientByUrl(url), options);
}

/** @throws what `migratePostgres` and `openUrl` throw. */
export async function migrate(_scheme: string, rest: string): Promise<void> {
  const { url, options } = read(rest);
  await migratePostgres(await clientByUrl(url), schemaIn(options));
}

/** @throws UsageError */
export function migrationText(_scheme: string, rest: string): string {
  return postgresMigration(schemaIn(read(rest).options));
}

function schemaIn({ schema }: PostgresOptions): { readonly schema?: string } {
  return schema === undefined ? {} : { schema };
}

function read(rest: string): { readonly url: string; readonly options: PostgresOptions } {
  return splitQuery<PostgresOptions>(splitUrl(rest), OPTIONS);
}
