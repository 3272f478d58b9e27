/** What a loss of data does to locks, and what is no loss. */
import { expect } from 'vitest';
import type { Claim } from '../../../src/contract/store.ts';
import { sent } from '../../methods/faults/sql-calls.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { until } from '../../support/until.ts';
import { claimOf, inBed, onOwn } from './bed.ts';
import { asked, callerOf, numberOf } from './caller.ts';

/** Longer than any of these tests. */
const MINUTE_MS = 60_000;

const FAST = { durability: 'fast' } as const;

const HELD = { state: 'held' };
const WAITS = { state: 'waiting', why: 'data-loss' };

/** What nobody waits for does not get to the disk before the server is killed. */
async function hold(server: PostgresServer): Promise<void> {
  const writers = await server.query<{ pid: number }>(`select pid from pg_stat_activity
    where backend_type in ('walwriter', 'background writer', 'checkpointer')`);
  expect(writers).toHaveLength(3);
  for (const { pid } of writers) server.pause(pid);
}

inBed('a crash loses nothing that was waited for, so nobody has to wait', async (bed) => {
  const server = await bed.server({ config: ['synchronous_commit = off'] });
  // The first is waited for in any case, for the sake of what it records.
  expect(await bed.fresh(server)).toMatchObject(HELD);
  await hold(server);
  const [before, kept] = [bed.use(callerOf(server)), asked('kept')];
  const numbers = (await before.claim([kept])).map(numberOf);
  await server.restart();
  expect(await bed.fresh(server)).toMatchObject(HELD);
  const after = bed.use(callerOf(server));
  expect(await after.claim([asked('kept')])).toEqual([expect.stringMatching(/^w .* queue /)]);
  expect((await after.renew([kept])).map(numberOf)).toEqual(numbers);
});

inBed('that a claim alone does not wait is waited for and seen by the next', async (bed) => {
  const server = await bed.server();
  await hold(server);
  expect(await bed.fresh(server, FAST)).toMatchObject(HELD);
  await server.restart();
  expect(await bed.fresh(server, FAST)).toMatchObject(WAITS);
});

onOwn('whoever trusted and waited before the loss is let in, and no other', async (bed, server) => {
  const storeAt = async (at: PostgresServer, afterDataLoss: 'trust' | 'wait') => {
    const store = bed.store(at, { afterDataLoss, maxTtl: MINUTE_MS });
    // A machine that is busy may not connect in time.
    await until('was connected', () => store.inspect('a').then(Boolean, () => false));
    return store;
  };
  const before = [await storeAt(server, 'trust'), await storeAt(server, 'wait')] as const;
  const claims = [1, 2, 3, 4].map(() => claimOf('a', { ttlMs: MINUTE_MS }));
  const [a, b, c, other] = claims as [Claim, Claim, Claim, Claim];
  // One by one: each waiter comes in another way.
  for (const each of [a, b, c]) await sent(() => before[0].claim([each]));
  await sent(() => before[1].claim([other]));
  const standby = bed.serve(await server.standby());
  await standby.inStep();
  for (const store of before) await store.close?.();
  await server.kill();
  await standby.promote();
  const store = await storeAt(standby, 'trust');
  for (const [own, next] of [[a, b] as const, [b, c] as const]) {
    await sent(() => store.release([own]));
    expect(await sent(() => store.renew([next]))).toMatchObject([HELD]);
  }
  await sent(() => store.release([c]));
  expect(await sent(() => store.renew([other]))).toMatchObject([WAITS]);
});

onOwn('an orderly restart loses nothing', async (bed, server) => {
  expect(await bed.fresh(server, FAST)).toMatchObject(HELD);
  await server.stop();
  await server.start();
  expect(await bed.fresh(server, FAST)).toMatchObject(HELD);
});

onOwn('a promoted standby may lack grants, so it makes everybody wait', async (bed, server) => {
  expect(await bed.fresh(server)).toMatchObject(HELD);
  const standby = bed.serve(await server.standby());
  await standby.inStep();
  await server.kill();
  await standby.promote();
  expect(await bed.fresh(standby)).toMatchObject(WAITS);
});

onOwn('the longest time of all programs counts', async (bed, server) => {
  await bed.fresh(server, { ...FAST, maxTtl: MINUTE_MS });
  await bed.fresh(server, { ...FAST, maxTtl: 1000 });
  await server.restart();
  const last = await bed.fresh(server, { ...FAST, maxTtl: 1000 });
  expect(last).toMatchObject(WAITS);
  expect(last).toHaveProperty(
    'retryInMs',
    expect.toSatisfy((ms) => ms > MINUTE_MS / 2),
  );
});
