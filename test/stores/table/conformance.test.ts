import { tableSchema, tableStore } from 'holdfast/table';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { describe } from 'vitest';
import { startMysql } from '../../servers/mysql-server.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { documentConformance } from '../document/conformance.ts';

/** All programs share a pool: what they do at once are statements of their own. */
describe('PostgreSQL', () => {
  documentConformance({
    why: undefined,
    async start() {
      const server = await startPostgres();
      const pool = new pg.Pool({ connectionString: server.url, max: 20 });
      await pool.query(tableSchema('postgres'));
      return { pool, close: () => pool.end().then(() => server.close()) };
    },
    store: ({ pool }, options) => tableStore(pool, options),
    slackMs: 1000,
    whole: true,
    traits: tableStore(new pg.Pool()).traits,
  });
});

describe('MySQL', () => {
  documentConformance({
    why: undefined,
    async start() {
      const server = await startMysql();
      const pool = createPool({ uri: server.url, connectionLimit: 20 });
      await pool.query(tableSchema('mysql'));
      return { pool, close: () => pool.end().then(() => server.close()) };
    },
    store: ({ pool }, options) => tableStore(pool, options),
    slackMs: 1000,
    traits: tableStore(createPool({ uri: 'mysql://unused' })).traits,
  });
});
