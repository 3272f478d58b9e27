/** The store that a PostgreSQL URL names, and its tables. */
import { UsageError } from '../../base/errors.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import { clientByUrl, splitUrl } from '../../clients/postgres/by-url.ts';
import { sqlFacts } from '../../clients/sql/server-facts.ts';
import type { Store } from '../../contract/store.ts';
import { SQL } from '../sql/options.ts';
import { splitQuery } from '../url-options.ts';
import { LAYOUT } from './history.ts';
import { type PostgresOptions, postgresMigration, postgresStore } from './index.ts';
import { runAlone } from './migration.ts';

/** Options of the store, in the query of the URL; the others are the client's. */
const OPTIONS = [...Object.keys(SQL), 'schema', 'durability'];

/**
 * Prisma has an option `schema`, too, and writes `schema=public` into each DATABASE_URL. If it were
 * ignored, a program that is told the same schema in its code would hold the same locks.
 * Options of Prisma's alone show that a URL is written for it.
 */
const OF_PRISMA = ['connection_limit', 'pool_timeout', 'socket_timeout', 'pgbouncer', 'sslaccept'];

/** @throws UsageError for a malformed URL, UnsupportedError if no client is installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { url, options } = read(rest);
  return postgresStore(await clientByUrl(url), options);
}

export async function migrate(_scheme: string, rest: string, table?: string): Promise<void> {
  const { url, schema } = read(rest);
  const locks = postgresMigration({ schema });
  await runAlone(await clientByUrl(url), table ?? locks);
}

export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { url, schema } = read(rest);
  const tables = `in the schema ${schema}, layout ${LAYOUT}`;
  return { ...(await sqlFacts(await clientByUrl(url), 'postgres')), tables };
}

export function migrationText(_scheme: string, rest: string): string {
  const { schema } = read(rest);
  return postgresMigration({ schema });
}

function read(rest: string) {
  const split = splitUrl(rest);
  const found = splitQuery<PostgresOptions>(split, OPTIONS);
  const { schema } = found.options;
  const names = [...new URLSearchParams(split.query).keys()];
  if (schema === 'public' || (schema && names.some((name) => OF_PRISMA.includes(name)))) {
    throw new UsageError(
      'In a PostgreSQL URL, schema is where Holdfast keeps its tables (lock, store, …). This one' +
        ' looks as Prisma writes it, for whom it is where yours are. Leave schema out of the URL' +
        ' for Holdfast, whose tables are in the schema holdfast then, or name another one:' +
        ' ?schema=locks.',
    );
  }
  return { ...found, schema: schema ?? 'holdfast' };
}
