/** PostgreSQL as a server whose figures are measured. */
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import pg from 'pg';
import type { Database, Facts } from '../sql-stores/database.ts';
import { CONTENDERS, UNCONTENDED } from './contenders.ts';
import { TABLES } from './floors.ts';

/** Sessions hand their numbers in when they end, so these are right when nobody else is there. */
const FACTS = `SELECT
  (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
  wal_sync AS syncs, wal_bytes AS log,
  (SELECT sum(n_tup_upd + n_tup_del) FROM pg_stat_user_tables) AS dead,
  (SELECT sum(n_tup_upd + n_tup_del - n_tup_hot_upd) FROM pg_stat_user_tables) AS indexed
  FROM pg_stat_wal`;

const STATEMENTS = `SELECT coalesce(sum(calls), 0) AS n FROM pg_stat_statements
  WHERE query NOT LIKE '%pg\\_stat\\_%'`;

const OTHERS = `SELECT count(*) AS n FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

const SIZES = `SELECT sum(pg_table_size(relid)) AS "tables", sum(pg_indexes_size(relid)) AS indexes
  FROM pg_stat_user_tables WHERE schemaname = 'holdfast'`;

export const postgres: Database = {
  contenders: CONTENDERS,
  uncontended: UNCONTENDED,
  contended: [
    ...['floor: row and LISTEN/NOTIFY', 'holdfast', 'holdfast, fair'],
    ...['@verrou/core', '@verrou/core, tuned', 'advisory-lock'],
  ],
  store: (url, options) => {
    const pool = new pg.Pool({ connectionString: url });
    return { store: postgresStore(pool, options), end: () => pool.end() };
  },
  async observe(url) {
    const client = new pg.Client(url);
    await client.connect();
    const row = async (sql: string): Promise<Facts> => {
      const { rows } = await client.query(sql);
      return Object.fromEntries(Object.entries(rows[0]).map(([name, n]) => [name, Number(n)]));
    };
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    await client.query(TABLES);
    const pool = new pg.Pool({ connectionString: url });
    await migratePostgres(pool);
    await pool.end();
    return {
      statements: async () => (await row(STATEMENTS)).n ?? 0,
      others: async () => (await row(OTHERS)).n ?? 0,
      async facts() {
        const { commits = 0, syncs = 0, log = 0, dead = 0, indexed = 0 } = await row(FACTS);
        return {
          ...{ commits, 'log syncs': syncs, 'log bytes': log },
          ...{ 'dead rows': dead, 'dead index entries': indexed },
        };
      },
      async sizes() {
        const { tables = 0, indexes = 0 } = await row(SIZES);
        return { 'tables KB': tables / 1024, 'indexes KB': indexes / 1024 };
      },
      tidy: () => client.query('VACUUM ANALYZE'),
      close: () => client.end(),
    };
  },
  protocol: {
    // Each ask ends with Query or Sync; what a connection begins with has no type.
    headOf: (first) => (first ? 4 : 5),
    lengthOf: (head) => head.readUInt32BE(head.length - 4) + head.length - 4,
    asks: (head) => head.length === 5 && (head[0] === 0x51 || head[0] === 0x53),
  },
};
