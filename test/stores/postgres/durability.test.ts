/** What a loss of data does to locks, and what is no loss. */
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import type { Claim, ClaimStatus } from '../../../src/contract/store.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { sent } from '../../methods/faults/sql-calls.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { until } from '../../support/until.ts';
import { clientOf } from './bed.ts';
import { asked, type Caller, callerOf, numberOf, type Settings } from './caller.ts';

/** Long enough for a quarantine to be seen by a busy machine, and short enough to be waited for. */
const MAX_TTL_MS = 10_000;

/** Longer than any of these tests. */
const MINUTE_MS = 60_000;

// Servers start and stop many at a time, on a machine that may be busy.
async function ready(config: readonly string[] = []): Promise<PostgresServer> {
  const server = await startPostgres({ config });
  await migratePostgres(clientOf('pg', server.url));
  return server;
}

/** What nobody waits for does not get to the disk before the server is killed. */
async function hold(server: PostgresServer): Promise<void> {
  const writers = await server.query<{ pid: number }>(`select pid from pg_stat_activity
    where backend_type in ('walwriter', 'background writer', 'checkpointer')`);
  expect(writers).toHaveLength(3);
  for (const { pid } of writers) server.pause(pid);
}

async function once<T>(server: PostgresServer, work: (caller: Caller) => Promise<T>): Promise<T> {
  const caller = callerOf(server);
  try {
    return await work(caller);
  } finally {
    await caller.close();
  }
}

const claim = (server: PostgresServer, resource: string, settings: Partial<Settings> = {}) =>
  once(server, async (caller) => {
    const [line] = await caller.claim([asked(resource)], { maxTtl: MAX_TTL_MS, ...settings });
    return line ?? '';
  });

const held = expect.stringMatching(/^h /);
const quarantine = expect.stringMatching(/^w .* data-loss \d+$/);

test.concurrent('a crash loses nothing that was waited for, so nobody has to wait', async () => {
  const server = await ready(['synchronous_commit = off']);
  // The first is waited for in any case, for the sake of what it records.
  await once(server, (one) => one.claim([asked('first')]));
  await hold(server);
  const kept = asked('kept');
  const number = await once(server, async (one) => numberOf((await one.claim([kept]))[0]));
  await server.restart();
  expect(await claim(server, 'other')).toEqual(held);
  expect(await claim(server, 'kept')).toEqual(expect.stringMatching(/^w .* queue /));
  const [line] = await once(server, (one) => one.renew([kept]));
  expect(numberOf(line)).toBe(number);
  await server.close();
});

test.concurrent('that a claim alone does not wait is waited for and seen by the next', async () => {
  const server = await ready();
  await hold(server);
  const alone = async (name: string): Promise<ClaimStatus | undefined> => {
    const known = { durability: 'fast', maxTtl: MAX_TTL_MS } as const;
    const store = postgresStore(new Pool({ connectionString: server.url }), known);
    let status: ClaimStatus | undefined;
    // A machine that is busy may not connect in time.
    await until('was asked', async () => {
      [status] = await store.claim([claimOf(name)]).catch(() => []);
      return status !== undefined;
    });
    await store.close?.();
    return status;
  };
  expect(await alone('lost')).toMatchObject({ state: 'held' });
  await server.restart();
  expect(await alone('new')).toMatchObject({ state: 'waiting', why: 'data-loss' });
  await server.close();
});

test.concurrent('whoever trusted and waited before the loss is let in, and no other', async () => {
  const server = await ready();
  const storeAt = async ({ url }: PostgresServer, afterDataLoss: 'trust' | 'wait') => {
    const client = new Pool({ connectionString: url });
    const store = postgresStore(client, { afterDataLoss, maxTtl: MINUTE_MS });
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
  const standby = await server.standby();
  await standby.inStep();
  for (const store of before) await store.close?.();
  await server.kill();
  await standby.promote();
  const store = await storeAt(standby, 'trust');
  for (const [own, next] of [[a, b] as const, [b, c] as const]) {
    await sent(() => store.release([own]));
    expect(await sent(() => store.renew([next]))).toMatchObject([{ state: 'held' }]);
  }
  await sent(() => store.release([c]));
  expect(await sent(() => store.renew([other]))).toMatchObject([
    { state: 'waiting', why: 'data-loss' },
  ]);
  await store.close?.();
  await standby.close();
  await server.close();
});

test.concurrent('an orderly restart loses nothing', async () => {
  const server = await ready();
  await claim(server, 'a', { fast: true });
  await server.stop('fast');
  await server.start();
  expect(await claim(server, 'b', { fast: true })).toEqual(held);
  await server.close();
});

test.concurrent('a promoted standby may lack grants, so it makes everybody wait', async () => {
  const server = await ready();
  await claim(server, 'a');
  const standby = await server.standby();
  await standby.inStep();
  await server.kill();
  await standby.promote();
  expect(await claim(standby, 'b')).toEqual(quarantine);
  await standby.close();
  await server.close();
});

test.concurrent('the longest time of all programs counts', async () => {
  const server = await ready();
  await claim(server, 'a', { maxTtl: 60_000, fast: true });
  await claim(server, 'b', { maxTtl: 1000, fast: true });
  await server.restart();
  const line = await claim(server, 'c', { maxTtl: 1000, fast: true });
  expect(line).toEqual(quarantine);
  expect(Number(line.split(' ').at(-1))).toBeGreaterThan(30_000);
  await server.close();
});
