import { postgresStore } from 'holdfast/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../src/contract/store.ts';
import { differ } from '../../methods/differential/differ.ts';
import { MAX_TTL_MS } from '../../methods/differential/steps.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { install, sweep } from './caller.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 700_000;

let server: PostgresServer;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startPostgres();
  await install(server);
  // The statements find this clock before that of the server.
  await server.query(`
    create table step (us bigint);
    insert into step values (0);
    create schema stepped;
    create function stepped.clock_timestamp() returns timestamptz language sql as
      $$ select pg_catalog.clock_timestamp() + us * interval '1 microsecond' from public.step $$;
    alter role postgres set search_path = stepped, pg_catalog, public`);
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close?.()));
  await server.close();
});

const pass = (ms: number) => server.query(`update step set us = us + ${ms * 1000}`);

test('PostgreSQL answers and tells as memory does', async () => {
  const pool = new pg.Pool({ connectionString: server.url });
  await differ({
    open: (options) => {
      const trusting = { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS } as const;
      const store = postgresStore(pool, { ...trusting, durability: 'fast', ...options });
      stores.push(store);
      return store;
    },
    pass,
    // Only the end of a hold of all there is proves that the next one holds.
    mayAsk: true,
    groups: 3,
  });
  await pass(LONG_MS);
  await sweep(server);
  await pool.end();
  expect(await server.query('select name from holdfast.lock')).toEqual([]);
});
