import { expect, test } from 'vitest';
import { differ } from '../../methods/differential/differ.ts';
import { MAX_TTL_MS } from '../../methods/differential/steps.ts';
import { sharedServer } from './bed.ts';
import { sweep } from './caller.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 700_000;

const { bed, server } = await sharedServer();
// The statements find this clock before that of the server.
await server.query(`
  create table step (us bigint);
  insert into step values (0);
  create schema stepped;
  create function stepped.clock_timestamp() returns timestamptz language sql as
    $$ select pg_catalog.clock_timestamp() + us * interval '1 microsecond' from public.step $$;
  create function stepped.statement_timestamp() returns timestamptz language sql stable as
    $$ select pg_catalog.statement_timestamp() + us * interval '1 microsecond' from public.step $$;
  alter role postgres set search_path = stepped, pg_catalog, public`);

const pass = (ms: number) => server.query(`update step set us = us + ${ms * 1000}`);

test('PostgreSQL answers and tells as memory does', async () => {
  const known = { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS, durability: 'fast' } as const;
  await differ({
    open: (options) => bed.store(server, { ...known, ...options }),
    pass,
    // Only the end of a hold of all there is proves that the next one holds.
    mayAsk: true,
    groups: 3,
  });
  await pass(LONG_MS);
  await sweep(server);
  expect(await server.query('select name from holdfast.lock')).toEqual([]);
});
