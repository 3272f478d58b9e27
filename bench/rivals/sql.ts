/** The other libraries on databases, with their defaults, or tuned for contention. */
import { kyselyStore } from '@verrou/core/drivers/kysely';
import advisoryLock from 'advisory-lock';
import { type Dialect, Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';
import { mysqlUrl } from '../floors/mysql.ts';
import type { Connect, Connected } from '../measuring/subject.ts';
import { verrouOn } from './verrou.ts';

const TUNED_POOL = 25;

function verrou(dialect: Dialect, tuned: boolean): Connected {
  const connection = new Kysely<unknown>({ dialect });
  return verrouOn(kyselyStore({ connection }), tuned, () => connection.destroy());
}

function onPostgres(url: string, tuned: boolean): Connected {
  const pool = new pg.Pool({ connectionString: url, ...(tuned && { max: TUNED_POOL }) });
  return verrou(new PostgresDialect({ pool }), tuned);
}

function onMysql(url: string, tuned: boolean): Connected {
  const options = { uri: mysqlUrl(url), ...(tuned && { connectionLimit: TUNED_POOL }) };
  return verrou(new MysqlDialect({ pool: createPool(options) }), tuned);
}

/** It has no options, and opens a connection for each lock. */
function advisory(url: string): Connected {
  const mutexOf = advisoryLock.default(url);
  return {
    task: (resource) => () => mutexOf(`advisory:${resource}`).lock(),
    close: () => {},
  };
}

export const postgresRivals: Readonly<Record<string, Connect>> = {
  '@verrou/core': (url) => onPostgres(url, false),
  '@verrou/core, tuned': (url) => onPostgres(url, true),
  'advisory-lock': advisory,
};

export const mysqlRivals: Readonly<Record<string, Connect>> = {
  '@verrou/core': (url) => onMysql(url, false),
  '@verrou/core, tuned': (url) => onMysql(url, true),
};
