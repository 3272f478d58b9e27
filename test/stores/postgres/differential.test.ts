import { postgresStore } from 'holdfast/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../src/contract/store.ts';
import { differ } from '../../methods/differential/differ.ts';
import { MAX_TTL_MS } from '../../methods/differential/steps.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { Caller, install } from './routines.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 700_000;

let server: PostgresServer;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startPostgres();
  await install(server);
  // The routines read the clock in one place.
  await server.query(`
    create table step (us bigint);
    insert into step values (0);
    alter function holdfast.micros() rename to real_micros;
    create function holdfast.micros() returns bigint language sql as
      $$ select holdfast.real_micros() + us from public.step $$;
    grant select on step to public`);
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close?.()));
  await server.close();
});

const pass = (ms: number) => server.query(`update step set us = us + ${ms * 1000}`);

test('PostgreSQL answers and tells as memory does', { timeout: 120_000 }, async () => {
  const pool = new pg.Pool({ connectionString: server.url });
  await differ({
    open: (options) => {
      const trusting = { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS } as const;
      const store = postgresStore(pool, { ...trusting, durability: 'fast', ...options });
      stores.push(store);
      return store;
    },
    pass,
    groups: 3,
  });
  await pass(LONG_MS);
  const caller = await Caller.open(server);
  while (((await caller.sweep()).rowCount ?? 0) > 0);
  await caller.close();
  await pool.end();
  const left = await server.query(`
    select (select count(*) from holdfast.resource) as resources,
      (select count(*) from holdfast.claim) as claims,
      (select count(*) from holdfast.grave) as graves`);
  expect(left).toEqual([{ resources: '0', claims: '0', graves: '0' }]);
});
