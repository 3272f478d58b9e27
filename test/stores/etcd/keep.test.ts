/** Records of work that is done: how many leases they need, and what stands in etcd for them. */
import type { Claim } from 'holdfast/store';
import { expect } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { etcdStoreOf } from '../../../src/stores/etcd/etcd-store.ts';
import { entryOf } from '../../clients/etcd/scene.ts';
import { claimOf, inTurn } from '../../methods/faults/bed.ts';
import { expectOwnRecords, type Keeping } from '../../methods/faults/records.ts';
import { until } from '../../support/until.ts';
import { counting } from './counting-client.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const HOUR_MS = 3_600_000;

const server = await sharedServer();

const inBed = inTurn(() => new Bed(server));

/** A store whose client is counted, and so many claims that hold. */
async function holding(bed: Bed, count: number) {
  const { client, counts } = counting(etcdClient(`http://${server.host}:${server.port}`));
  const store = bed.storeOf(client) as Keeping;
  const claims = Array.from({ length: count }, (_, i) => claimOf(`work ${i}`));
  for (const status of await store.claim(claims)) expect(status.state).toBe('held');
  return { client, counts, store, claims };
}

inBed('a hundred records of about one length have one lease', async (bed) => {
  const { counts, store, claims } = await holding(bed, 100);
  const before = counts.grant;
  for (const [i, claim] of claims.entries()) {
    // 24 hours, and up to a minute less.
    const ms = 24 * HOUR_MS - i * 600;
    expect(await store.keep(claim, { text: `${i}`, ms })).toBe(true);
  }
  expect(counts.grant - before).toBe(1);
  for (const [i, claim] of claims.entries()) {
    const kept = await store.recall(claim.resource);
    expect(kept?.text).toBe(`${i}`);
    expect(kept?.leftMs).toBeGreaterThan(24 * HOUR_MS - i * 600 - 60_000);
    expect(kept?.leftMs).toBeLessThan(24 * HOUR_MS * 1.2);
  }
});

inBed('a record costs one request, and its check none', async (bed) => {
  const { counts, store, claims } = await holding(bed, 1);
  await store.keep(claims[0]!, { text: 'first', ms: HOUR_MS });
  const before = { ...counts };
  await store.keep(claims[0]!, { text: 'second', ms: HOUR_MS });
  expect(counts).toEqual({ ...before, txn: before.txn + 1 });
});

inBed('a lease that somebody has ended is missed, and another one made', async (bed) => {
  const { client, store, claims } = await holding(bed, 2);
  const [first, second] = claims as [Claim, Claim];
  const record = { text: 'done', ms: HOUR_MS };
  expect(await store.keep(first, record)).toBe(true);
  const { lease = 0n } = (await entryOf(client, bed.keys.record(first.resource))) ?? {};
  expect(lease).not.toBe(0n);
  await client.revoke(lease);
  expect(await store.recall(first.resource)).toBeUndefined();
  expect(await store.keep(second, record)).toBe(true);
  expect((await store.recall(second.resource))?.text).toBe('done');
});

inBed('a lease that has not enough left gets no more records', async (bed) => {
  const client = etcdClient(`http://${server.host}:${server.port}`);
  const clock = systemClock();
  let passed = 0;
  const later = { ...clock, now: () => clock.now() + passed };
  const parts = { client, keys: bed.keys, clock: later, maxWaiters: 9 };
  const store = bed.use(etcdStoreOf(parts)) as Keeping;
  const leaseOf = async (name: string): Promise<bigint | undefined> => {
    const claim = claimOf(name);
    expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
    expect(await store.keep(claim, { text: name, ms: HOUR_MS })).toBe(true);
    return (await entryOf(client, bed.keys.record(name)))?.lease;
  };
  const first = await leaseOf('first');
  // It was made for a tenth more than an hour, or a little more than that.
  passed = 0.3 * HOUR_MS;
  const second = await leaseOf('second');
  expect([typeof first, typeof second, first === second]).toEqual(['bigint', 'bigint', false]);
});

inBed('what is over is gone from etcd, without anybody', async (bed) => {
  const { store, claims } = await holding(bed, 1);
  expect(await store.keep(claims[0]!, { text: 'done', ms: 1 })).toBe(true);
  const keys = (): Promise<string> => server.etcdctl('get', '--prefix', `${bed.prefix}%/kept-`);
  await until('was it gone', async () => (await keys()).trim() === '');
});

inBed('names that would end a key, or are in others, have records of their own', async (bed) => {
  const names = ['a', 'a/b', 'a%2Fb', '%', '%/', 'kept-a', '\0', '\u{10ffff}'];
  await expectOwnRecords(bed.store(server) as Keeping, names);
});
