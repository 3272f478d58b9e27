/**
 * What a PostgreSQL URL names, with whichever client package is installed. No message repeats any
 * part of the URL: in a malformed one, any part may be the password.
 */

import { UsageError } from '../../base/errors.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import type { Store } from '../../contract/store.ts';
import { SQL } from '../sql/options.ts';
import { splitQuery } from '../url-options.ts';
import {
  migratePostgres,
  type PostgresClient,
  type PostgresOptions,
  postgresMigration,
  postgresStore,
} from './index.ts';

const FORM = 'postgres://user:password@host:5432/database?sslmode=require';

/** Options of the store, in the query of the URL; the others are the client's. */
const OPTIONS = [...Object.keys(SQL), 'schema', 'durability'];

/**
 * The store connects with its first verb.
 * @throws UsageError for a malformed URL, UnsupportedError if no client is installed.
 */
export async function openPostgresUrl(rest: string): Promise<Store> {
  const { url, options } = read(rest);
  return postgresStore(await clientOf(url), options);
}

/** @throws what `migratePostgres` and `openPostgresUrl` throw. */
export async function migrate(rest: string): Promise<void> {
  const { url, options } = read(rest);
  await migratePostgres(await clientOf(url), schemaIn(options));
}

/** @throws UsageError */
export function migrationText(rest: string): string {
  return postgresMigration(schemaIn(read(rest).options));
}

function schemaIn({ schema }: PostgresOptions): { readonly schema?: string } {
  return schema === undefined ? {} : { schema };
}

function read(rest: string): { readonly url: string; readonly options: PostgresOptions } {
  const [, place, query = ''] = /^(\/\/[^?#]*)(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) throw malformed('it does not fit the form');
  // Clients read these differently.
  if (/\s/.test(rest)) throw malformed('it has a blank in it');
  if (/%(?![\da-f]{2})/i.test(rest)) throw malformed('a % in it is not followed by two digits');
  const { options, others } = splitQuery<PostgresOptions>(query, OPTIONS);
  const url = `postgres:${place}${others}`;
  return { url, options };
}

async function clientOf(url: string): Promise<PostgresClient> {
  // Only postgres.js supports several hosts.
  const several = /^[^/]*\/\/(?:[^/]*@)?[^/@]*,/.test(url);
  const client = (several ? undefined : await withPg(url)) ?? (await withPostgresJs(url));
  if (client) return client;
  const [what, packages] = several
    ? ['A PostgreSQL URL with several hosts', '`npm install postgres`']
    : ['A PostgreSQL URL', '`npm install pg` or `npm install postgres`'];
  throw new UnsupportedError('store', `${what} needs a client: run ${packages}.`);
}

/** Makes a client that never connects: the store opens connections of its own like it. */
async function withPg(connectionString: string): Promise<PostgresClient | undefined> {
  const pg = await import('pg').catch(() => undefined);
  if (!pg) return undefined;
  const { Client, Pool } = pg.default;
  return reading(() => {
    // A Pool does not read the text before it makes a client.
    new Client({ connectionString });
    return new Pool({ connectionString });
  });
}

async function withPostgresJs(url: string): Promise<PostgresClient | undefined> {
  const loaded = await import('postgres').catch(() => undefined);
  return loaded && reading(() => loaded.default(url));
}

/** Hides what a package throws, which has the URL in it. */
function reading(make: () => PostgresClient): PostgresClient {
  try {
    return make();
  } catch {
    throw malformed('the client cannot read it');
  }
}

function malformed(why: string): UsageError {
  return new UsageError(
    `The PostgreSQL URL is malformed: ${why}. The form is '${FORM}'; in a user name or` +
      ' password, characters such as / @ : and % are written as %2F, %40, %3A and %25.',
  );
}
