/** Queues of which a step reads no more than it looks at. */
import { expect } from 'vitest';
import type { Claim, Store } from '../../../src/contract/store.ts';
import { claimOf, newFile, one, open, test } from './bed.ts';
import { FakeMachine } from './fake-machine.ts';

/** A holder, and so many who wait, of whom every third soon dies. */
async function line(store: Store, waiters: number): Promise<readonly Claim[]> {
  const claims = Array.from({ length: waiters + 1 }, (_, i) =>
    claimOf('job', { ttlMs: i % 3 === 2 ? 1_000 : 10_000 + i * 100 }),
  );
  for (const claim of claims) await store.claim([claim]);
  return claims;
}

test('at the front a claim is told how many are ahead, further back how many wait', async () => {
  const file = newFile();
  const machine = new FakeMachine('first');
  const [, ...waiters] = await line(open(file, { machine }), 12);
  const store = open(file, { machine, front: 3 });
  for (const [i, claim] of waiters.entries()) {
    const ahead = i <= 3 ? i + 1 : 12;
    expect(await one(store.renew([claim]))).toMatchObject({ state: 'waiting', ahead });
  }
});

test('who waits behind those who are read watches the last of them', async ({ file }) => {
  const machine = new FakeMachine('first');
  const store = open(file, { machine, front: 1 });
  const claims = Array.from({ length: 8 }, (_, i) => claimOf('job', { ttlMs: 1_000 * (i + 1) }));
  await store.claim(claims);
  const last = claims[7] as Claim;
  // All the others die, one after the other, and none of them asks again.
  let asked = 0;
  for (let status = await one(store.renew([last])); status.state !== 'held'; asked++) {
    if (status.state !== 'waiting') throw new Error(`not waiting: ${status.state}`);
    expect(status.retryInMs).toBeGreaterThan(0);
    machine.pass(status.retryInMs * 1_000);
    status = await one(store.renew([last]));
  }
  expect(asked).toBeLessThan(8);
});

test('those who are left out are counted', async () => {
  const store = open(newFile(), { front: 0, maxWaiters: 5 });
  await line(store, 4);
  expect(await one(store.claim([claimOf('job')]))).toMatchObject({ state: 'waiting', ahead: 5 });
  expect(await one(store.claim([claimOf('job')]))).toMatchObject({ why: 'full' });
});

test('who has left and come again by another way is found where it is', async ({ file }) => {
  const [a, b] = [open(file, { front: 0 }), open(file, { front: 0 })];
  const claims = await line(a, 4);
  const [, , moved, other] = claims as [Claim, Claim, Claim, Claim];
  await b.release([moved]);
  await b.claim([moved]);
  // Not the last, nor the one before the last, which are read in any case.
  await line(b, 2);
  const several = await a.renew([moved, other]);
  expect(several).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }]);
  expect(await one(a.renew([moved]))).toMatchObject({ state: 'waiting', ahead: 7 });
  expect(await a.release([moved])).toEqual([true]);
  expect(await one(b.renew([moved]))).toMatchObject({ state: 'gone' });
});
