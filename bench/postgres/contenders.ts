/** Who wants locks of PostgreSQL: the floors, ours and the other libraries, by name. */

import { kyselyStore } from '@verrou/core/drivers/kysely';
import advisoryLock from 'advisory-lock';
import { type PostgresOptions, postgresStore } from 'holdfast/postgres';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { type Connect, type Connected, TTL_MS } from '../contender.ts';
import { locksOf } from '../holdfast.ts';
import { verrouOn } from '../verrou.ts';
import { barePg, barePostgres, rowAndNotify } from './floors.ts';

const FAST_FLOOR = 'floor: INSERT … ON CONFLICT + UPDATE, pg, synchronous_commit off';

/** By the names that the tables show; workers get them as text. */
export const CONTENDERS: Readonly<Record<string, Connect>> = {
  'floor: INSERT … ON CONFLICT + UPDATE, pg': (url) => barePg(url),
  'floor: INSERT … ON CONFLICT + UPDATE, postgres': barePostgres,
  [FAST_FLOOR]: (url) => barePg(url, '-c synchronous_commit=off'),
  'floor: row and LISTEN/NOTIFY': rowAndNotify,
  holdfast: (url) => withPg(url, false),
  'holdfast, pg': (url) => withPg(url, false),
  'holdfast, fair': (url) => withPg(url, true),
  'holdfast, pg, durability fast': (url) => withPg(url, false, { durability: 'fast' }),
  'holdfast, postgres': withPostgres,
  '@verrou/core': (url) => verrou(url, false),
  '@verrou/core, tuned': (url) => verrou(url, true),
  'advisory-lock': advisory,
};

/** Compared with each other, the floor first. */
export const UNCONTENDED: readonly (readonly string[])[] = [
  ['floor: INSERT … ON CONFLICT + UPDATE, pg', 'holdfast, pg', '@verrou/core'],
  ['floor: INSERT … ON CONFLICT + UPDATE, postgres', 'holdfast, postgres'],
  [FAST_FLOOR, 'holdfast, pg, durability fast'],
];

async function withPg(url: string, fair: boolean, options?: PostgresOptions): Promise<Connected> {
  const pool = new pg.Pool({ connectionString: url });
  return locksOf(postgresStore(pool, { maxTtl: TTL_MS, ...options }), fair, () => pool.end());
}

async function withPostgres(url: string): Promise<Connected> {
  const sql = postgres(url);
  return locksOf(postgresStore(sql, { maxTtl: TTL_MS }), false, () => sql.end());
}

async function verrou(url: string, tuned: boolean): Promise<Connected> {
  const pool = new pg.Pool({ connectionString: url, ...(tuned && { max: 25 }) });
  const connection = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return verrouOn(kyselyStore({ connection }), tuned, () => connection.destroy());
}

/** It has no options, and opens a connection for each lock. */
async function advisory(url: string): Promise<Connected> {
  const mutexOf = advisoryLock.default(url);
  return {
    task: (resource) => () => mutexOf(`advisory:${resource}`).lock(),
    close: async () => {},
  };
}
