/**
 * What a MySQL or MariaDB URL names, with whichever client package is installed. No message repeats
 * any part of the URL: in a malformed one, any part may be the password.
 */

import { UsageError } from '../../base/errors.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import type { Store } from '../../contract/store.ts';
import { SQL } from '../sql/options.ts';
import { splitQuery } from '../url-options.ts';
import {
  type MysqlClient,
  type MysqlOptions,
  migrateMysql,
  mysqlMigration,
  mysqlStore,
} from './index.ts';

const FORM = 'mysql://user:password@host:3306/database';

/** Options of the store, in the query of the URL; the others are the client's. */
const OPTIONS = [...Object.keys(SQL), 'prefix'];

type Client = MysqlClient & { end(): unknown };

/**
 * The store connects with its first verb.
 * @throws UsageError for a malformed URL, UnsupportedError if no client is installed.
 */
export async function openMysqlUrl(scheme: string, rest: string): Promise<Store> {
  const { url, options } = read(rest);
  const client = await clientOf(scheme, url);
  const store = mysqlStore(client, options);
  const close = store.close?.bind(store);
  // Only the store can end the client, and an idle pool keeps the program from ending.
  return Object.assign(store, {
    async close() {
      await close?.();
      await client.end();
    },
  });
}

/** @throws what `migrateMysql` and `openMysqlUrl` throw. */
export async function migrate(rest: string): Promise<void> {
  const { url, options } = read(rest);
  const client = await clientOf('mysql', url);
  await migrateMysql(client, prefixIn(options)).finally(() => client.end());
}

/** @throws UsageError */
export function migrationText(rest: string): string {
  return mysqlMigration(prefixIn(read(rest).options));
}

function prefixIn({ prefix }: MysqlOptions): { readonly prefix?: string } {
  return prefix === undefined ? {} : { prefix };
}

function read(rest: string): { readonly url: string; readonly options: MysqlOptions } {
  const [, place, query = ''] = /^(\/\/[^/?#]+\/[^/?#]+)(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) throw malformed('it does not fit the form');
  const { options, others } = splitQuery<MysqlOptions>(query, OPTIONS);
  const url = `${place}${others}`;
  return { url, options };
}

/** Tries each product's own client first; both speak to either. */
async function clientOf(scheme: string, url: string): Promise<Client> {
  const makers = [withMysql2, withMariadb];
  if (scheme === 'mariadb') makers.reverse();
  for (const make of makers) {
    const client = await make(url);
    if (client) return client;
  }
  const message = 'A MySQL URL needs a client: run `npm install mysql2` or `npm install mariadb`.';
  throw new UnsupportedError('store', message);
}

/** Makes a client that never connects: the store opens connections of its own like it. */
async function withMysql2(url: string): Promise<Client | undefined> {
  const mysql2 = await import('mysql2').catch(() => undefined);
  return mysql2 && reading(() => mysql2.default.createPool(`mysql:${url}`).promise());
}

/** The pool connects only when it is asked to. */
async function withMariadb(url: string): Promise<Client | undefined> {
  const mariadb = await import('mariadb').catch(() => undefined);
  const pool = `${url}${url.includes('?') ? '&' : '?'}minimumIdle=0&connectionLimit=1`;
  return mariadb && reading(() => mariadb.default.createPool(`mariadb:${pool}`));
}

/** Hides what a package throws, which has the URL in it. */
function reading(make: () => Client): Client {
  try {
    return make();
  } catch {
    throw malformed('the client cannot read it');
  }
}

function malformed(why: string): UsageError {
  return new UsageError(
    `The MySQL URL is malformed: ${why}. The form is '${FORM}'; in a user name or password,` +
      ' characters such as / @ : and % are written as %2F, %40, %3A and %25.',
  );
}
