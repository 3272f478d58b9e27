/** Queues of which a step reads no more than it looks at. */
import { expect, test } from 'vitest';
import type { Claim, Store } from '../../../src/contract/store.ts';
import { claimOf, hold, newFile, one, open } from './bed.ts';
import { FakeMachine } from './fake-machine.ts';

/** A holder, and so many who wait, of whom every third soon dies. */
async function line(store: Store, waiters: number): Promise<readonly Claim[]> {
  const claims = Array.from({ length: waiters + 1 }, (_, i) =>
    claimOf('job', { ttlMs: i % 3 === 2 ? 1_000 : 10_000 + i * 100 }),
  );
  for (const claim of claims) await store.claim([claim]);
  return claims;
}

/** What each of these says to a heartbeat of a claim that waits. */
async function outlooks(stores: readonly Store[], claim: Claim): Promise<readonly Outlook[]> {
  const seen: Outlook[] = [];
  for (const store of stores) {
    const status = await one(store.renew([claim]));
    if (status.state !== 'waiting') throw new Error(`not waiting: ${status.state}`);
    seen.push({ ahead: status.ahead, retryInMs: Math.round(status.retryInMs) });
  }
  return seen;
}

interface Outlook {
  readonly ahead: number | undefined;
  readonly retryInMs: number;
}

test('wherever a claim waits, it is told what it would be told if all were read', async () => {
  const file = newFile();
  const machine = new FakeMachine('first');
  // One has seen where they are, the others have to look for them.
  const first = open(file, { machine, front: 0 });
  const [, ...waiters] = await line(first, 12);
  const stores = [first, ...[0, 3, 1_000].map((front) => open(file, { machine, front }))];
  for (const [i, claim] of waiters.entries()) {
    const seen = await outlooks(stores, claim);
    expect(seen.map(({ ahead }) => ahead)).toEqual(stores.map(() => i + 1));
    expect(new Set(seen.map(({ retryInMs }) => retryInMs)).size).toBe(1);
  }
  // The dead are still there, and each has died before the claim that asks.
  machine.pass(2_000_000);
  for (const claim of waiters.filter((_, i) => i % 3 !== 1)) {
    const times = (await outlooks(stores, claim)).map(({ retryInMs }) => retryInMs);
    expect(new Set(times).size).toBe(1);
    expect(times[0]).toBeGreaterThan(0);
  }
});

test('those who are left out are counted', async () => {
  const store = open(newFile(), { front: 0, maxWaiters: 5 });
  await line(store, 4);
  expect(await one(store.claim([claimOf('job')]))).toMatchObject({ state: 'waiting', ahead: 5 });
  expect(await one(store.claim([claimOf('job')]))).toMatchObject({ why: 'full' });
});

test('who has left and come again by another way is found where it is', async () => {
  const file = newFile();
  const [a, b] = [open(file, { front: 0 }), open(file, { front: 0 })];
  const claims = await line(a, 4);
  const [, , moved] = claims as [Claim, Claim, Claim];
  await b.release([moved]);
  await b.claim([moved]);
  // Not the last, nor the one before the last, which are read in any case.
  await line(b, 2);
  expect(await one(a.renew([moved]))).toMatchObject({ state: 'waiting', ahead: 4 });
  expect(await a.release([moved])).toEqual([true]);
  expect(await one(b.renew([moved]))).toMatchObject({ state: 'gone' });
});

test('who waits far back can be evicted', async () => {
  const store = open(newFile(), { front: 0 });
  const claims = await line(store, 4);
  const { number } = (await store.inspect('job')).waiters[3] as { number: bigint };
  expect(await store.evict('job', number, { reason: 'test', now: false })).toBe(true);
  expect(await one(store.renew([claims[4] as Claim]))).toMatchObject({ why: 'evicted' });
  expect((await store.inspect('job')).waiters).toHaveLength(3);
});

test('who leaves lets in as many as fit, however few were read', async () => {
  const store = open(newFile(), { front: 0 });
  const over = { permits: 1, limit: 8, kind: 'read' } as const;
  const writer = claimOf('job', { ...over, kind: 'write', permits: 8 });
  await hold(store, writer);
  const readers = Array.from({ length: 30 }, () => claimOf('job', over));
  await store.claim(readers);
  await store.release([writer]);
  expect(await one(store.renew([readers[29] as Claim]))).toMatchObject({ state: 'waiting' });
  const { holders, waiters } = await store.inspect('job');
  expect([holders.length, waiters.length]).toEqual([8, 22]);
});
