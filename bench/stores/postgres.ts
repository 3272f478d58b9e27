/** PostgreSQL. */
import { migratePostgres } from 'holdfast/postgres';
import pg from 'pg';
import { floors, TABLES } from '../floors/postgres.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Observer, Place, Subject } from '../measuring/subject.ts';
import { ADVISORY_LOCK, connectAdvisoryLock } from '../rivals/advisory-lock.ts';
import { OURS } from './ours.ts';

const STATEMENTS = `SELECT coalesce(sum(calls), 0) AS n FROM pg_stat_statements
  WHERE query NOT LIKE '%pg\\_stat\\_%'`;

const SIZE = `SELECT sum(pg_table_size(relid) + pg_indexes_size(relid)) AS n
  FROM pg_stat_user_tables WHERE schemaname = 'holdfast'`;

export const postgres: Subject = {
  name: 'PostgreSQL',
  contenders: { ...floors, ...OURS, [ADVISORY_LOCK]: connectAdvisoryLock },
  alone: [['floor: INSERT … ON CONFLICT + UPDATE, pg', 'holdfast']],
  // So many that the first round, which does not count, is long enough to compile JavaScript.
  pairs: [1_500, 1_920],
  goals: [0.8, 4],
  contended: ['floor: row and LISTEN/NOTIFY', 'holdfast', 'holdfast, fair', ADVISORY_LOCK],
  asks: 'statements',
  crowd: { ratio: 1.5, statements: 2.5 },
  observe,
};

async function observe({ url, pids }: Place): Promise<Observer> {
  const client = new pg.Client(url);
  await client.connect();
  const count = async (sql: string): Promise<number> => Number((await client.query(sql)).rows[0].n);
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await client.query(TABLES);
  await migratePostgres(client);
  return {
    work: async () => ({ statements: await count(STATEMENTS), 'server CPU µs': cpuMicros(pids) }),
    bytes: () => count(SIZE),
    close: () => client.end(),
  };
}
