/** PostgreSQL, with each client package. */
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import pg from 'pg';
import postgresJs from 'postgres';
import { FAST_FLOOR, floors, TABLES } from '../floors/postgres.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Connected, Place, Work } from '../measuring/subject.ts';
import { postgresRivals } from '../rivals/sql.ts';
import { locksOf, OURS } from './ours.ts';
import { SQL, type SqlObserver, type SqlSubject } from './sql.ts';

/** Sessions hand their numbers in when they end, so these are right when nobody else is there. */
const FACTS = `SELECT
  (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
  wal_sync AS "log syncs", wal_bytes AS "log bytes",
  (SELECT sum(n_tup_upd + n_tup_del) FROM pg_stat_user_tables) AS "dead rows",
  (SELECT sum(n_tup_upd + n_tup_del - n_tup_hot_upd) FROM pg_stat_user_tables)
    AS "dead index entries"
  FROM pg_stat_wal`;

const STATEMENTS = `SELECT coalesce(sum(calls), 0) AS n FROM pg_stat_statements
  WHERE query NOT LIKE '%pg\\_stat\\_%'`;

const OTHERS = `SELECT count(*) AS n FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

const SIZES = `SELECT sum(pg_table_size(relid)) / 1024 AS "tables KB",
  sum(pg_indexes_size(relid)) / 1024 AS "indexes KB"
  FROM pg_stat_user_tables WHERE schemaname = 'holdfast'`;

async function withPostgresJs(url: string): Promise<Connected> {
  const sql = postgresJs(url);
  return locksOf(postgresStore(sql), { end: () => sql.end() });
}

export const postgres: SqlSubject = {
  ...SQL,
  name: 'PostgreSQL',
  contenders: {
    ...{ ...floors, ...OURS, 'holdfast, pg': OURS.holdfast, 'holdfast, postgres': withPostgresJs },
    'holdfast, pg, durability fast': (url) => OURS.holdfast(`${url}?durability=fast`),
    ...postgresRivals,
  },
  alone: [
    ['floor: INSERT … ON CONFLICT + UPDATE, pg', 'holdfast, pg', '@verrou/core'],
    ['floor: INSERT … ON CONFLICT + UPDATE, postgres', 'holdfast, postgres'],
    [FAST_FLOOR, 'holdfast, pg, durability fast'],
  ],
  contended: [
    ...['floor: row and LISTEN/NOTIFY', 'holdfast', 'holdfast, fair'],
    ...['@verrou/core', '@verrou/core, tuned', 'advisory-lock'],
  ],
  observe,
  protocol: {
    // Each ask ends with Query or Sync; what a connection begins with has no type.
    headOf: (first) => (first ? 4 : 5),
    lengthOf: (head) => head.readUInt32BE(head.length - 4) + head.length - 4,
    asks: (head) => head.length === 5 && (head[0] === 0x51 || head[0] === 0x53),
  },
};

async function observe({ url, pids }: Place): Promise<SqlObserver> {
  const client = new pg.Client(url);
  await client.connect();
  const row = async (sql: string): Promise<Work> => {
    const { rows } = await client.query(sql);
    return Object.fromEntries(Object.entries(rows[0]).map(([name, n]) => [name, Number(n)]));
  };
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await client.query(TABLES);
  const pool = new pg.Pool({ connectionString: url });
  await migratePostgres(pool);
  await pool.end();
  const statements = async (): Promise<number> => (await row(STATEMENTS)).n ?? 0;
  return {
    work: async () => ({ statements: await statements(), 'server CPU µs': cpuMicros(pids) }),
    async bytes() {
      const sizes = Object.values(await row(SIZES));
      return 1024 * sizes.reduce((sum, n) => sum + n, 0);
    },
    others: async () => (await row(OTHERS)).n ?? 0,
    facts: () => row(FACTS),
    sizes: () => row(SIZES),
    tidy: () => client.query('VACUUM ANALYZE'),
    close: () => client.end(),
  };
}
