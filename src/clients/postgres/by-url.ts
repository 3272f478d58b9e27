/** A client for a PostgreSQL URL, of an installed package; it connects when it is used. */
import { UnsupportedError } from '../../contract/errors.ts';
import type { SqlDatabase } from '../sql/clients.ts';
import { UrlForm } from '../url-form.ts';
import type { PostgresClient } from './client.ts';

const FORM = new UrlForm(
  'The PostgreSQL URL',
  'postgres://user:password@host:5432/database?sslmode=require',
);

export type PostgresByUrl = PostgresClient & SqlDatabase & { end(): unknown };

/** The query apart from the rest. @throws UsageError */
export function splitUrl(rest: string): { readonly place: string; readonly query: string } {
  const [, place, query = ''] = /^(\/\/[^?#]*)(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) throw FORM.malformed('it does not fit the form');
  // Clients read these differently.
  if (/\s/.test(rest)) throw FORM.malformed('it has a blank in it');
  if (/%(?![\da-f]{2})/i.test(rest))
    throw FORM.malformed('a % in it is not followed by two digits');
  return { place, query };
}

/** @throws UsageError for a malformed URL, UnsupportedError if no client is installed. */
export async function clientByUrl(url: string): Promise<PostgresByUrl> {
  // Only postgres.js supports several hosts.
  const several = /^\/\/(?:[^/]*@)?[^/@]*,/.test(url);
  const text = `postgres:${url}`;
  const client = (several ? undefined : await withPg(text)) ?? (await withPostgresJs(text));
  if (client) return client;
  const [what, packages] = several
    ? ['A PostgreSQL URL with several hosts', '`npm install postgres`']
    : ['A PostgreSQL URL', '`npm install pg` or `npm install postgres`'];
  throw new UnsupportedError('store', `${what} needs a client: run ${packages}.`);
}

async function withPg(connectionString: string): Promise<PostgresByUrl | undefined> {
  const pg = await import('pg').catch(() => undefined);
  if (!pg) return undefined;
  const { Client, Pool } = pg.default;
  return FORM.reading(() => {
    // A Pool does not read the text before it makes a client.
    new Client({ connectionString });
    // It drops the idle connection that failed, and opens another one.
    return new Pool({ connectionString, allowExitOnIdle: true }).on('error', () => {});
  });
}

async function withPostgresJs(url: string): Promise<PostgresByUrl | undefined> {
  const loaded = await import('postgres').catch(() => undefined);
  // An idle connection keeps the process alive, and does not show its socket.
  return loaded && FORM.reading(() => loaded.default(url, { idle_timeout: 1 }));
}
