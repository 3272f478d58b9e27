/**
 * Many claims live on one lease of etcd, and each still ends as if it had its own: what the suite,
 * which knows no leases, cannot try.
 */
import type { Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { afterAll, expect, test } from 'vitest';
import type { EtcdClient, RangeAnswer } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { entryOf } from '../../clients/etcd/scene.ts';
import { claimOf, hasWaiter, inBeds, LONG_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import {
  beating,
  claim,
  endsOfClaims,
  getIn,
  holders,
  mortal,
  TTL_MS,
} from '../../methods/faults/expiry.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Counting, counting } from './counting-client.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const inBed = inBeds(() => new Bed(server));

const SLOW = ['--heartbeat-interval=400', '--election-timeout=4000'];
/** The leases of `generous` are never shorter than 6 s: one and a half times a slow election. */
const [server, generous] = await Promise.all([sharedServer(), sharedServer({ config: SLOW })]);
const looking = etcdClient(server.clientUrl);
afterAll(() => looking.close());

/** As etcdctl writes it. */
async function leaseOf({ keys }: Bed, { resource, id }: Claim): Promise<string> {
  const entry = await entryOf(looking, keys.claim(resource, id));
  return (entry?.lease ?? 0n).toString(16);
}

function counted(bed: Bed, at = server): Counting & { readonly store: Store } {
  const all = counting(etcdClient(at.clientUrl));
  return { ...all, store: bed.storeOf(all.client) };
}

endsOfClaims(
  () => new Bed(server),
  () => new Bed(generous),
);

inBed('a claim that nobody renews ends, although others keep its lease', async (bed) => {
  const [store, other] = [bed.store(server), bed.store(server)];
  const [kept, left] = [mortal('kept'), mortal('left')];
  await claim(store, kept, left);
  expect(await leaseOf(bed, kept)).toBe(await leaseOf(bed, left));
  await beating(store, [kept], async () => (await holders(other, 'left')) === 0);
  expect(await holders(other, 'kept')).toBe(1);
  expect(await store.renew([left])).toEqual([{ state: 'gone', why: 'expired' }]);
});

inBed('a claim of less than whole seconds is never held after it has ended', async (bed) => {
  const [store, other] = [bed.store(server), bed.store(server)];
  // Both on a lease of 3 s.
  const [brief, kept] = [claimOf('brief', { ttlMs: 2100 }), claimOf('kept', { ttlMs: 2900 })];
  await claim(store, brief, kept);
  expect(await leaseOf(bed, kept)).toBe(await leaseOf(bed, brief));
  await sleep(1500);
  await store.renew([kept]);
  // The lease lives, the claim does not.
  await sleep(700);
  expect(await store.renew([brief])).toEqual([{ state: 'gone', why: 'expired' }]);
  expect(await holders(other, 'brief')).toBe(0);
});

inBed('a new claim gets a lease with most of its life', async (bed) => {
  const { store, counts } = counted(bed);
  const terms = { ttlMs: paced(6000) };
  const [first, second] = [claimOf('first', terms), claimOf('a', terms)];
  await claim(store, first);
  // More than a third of its life.
  await sleep(paced(2500));
  const [status] = await claim(store, second);
  expect(await leaseOf(bed, first)).toBe(await leaseOf(bed, second));
  // It was kept alive first: two thirds are 4 s of 6, and it would have had 3.5.
  expect((status as { leftMs: number }).leftMs).toBeGreaterThan(paced(3500));
  expect(counts).toMatchObject({ grant: 1, keepAlive: 1 });
});

inBed('nobody is promised more than the store will keep', async (bed) => {
  const store = bed.store(server);
  const [kept, left] = [mortal('kept'), mortal('left')];
  await claim(store, kept, left);
  await sleep(TTL_MS / 2);
  const asked = performance.now();
  await store.renew([kept]);
  // It is sent again, which is no heartbeat.
  const [again] = await claim(store, left);
  const { leftMs } = again as { leftMs: number };
  const other = bed.store(server);
  await beating(store, [kept], async () => (await holders(other, 'left')) === 0);
  expect(performance.now() - asked).toBeGreaterThanOrEqual(leftMs);
});

inBed('a lease that cannot be had holds up no claim on another', async (bed) => {
  const client = bed.use(etcdClient(server.clientUrl));
  let refuse: (error: Error) => void = () => {};
  const never = new Promise<never>((_, reject) => (refuse = reject));
  const grant: EtcdClient['grant'] = (ms) => (ms === 7000 ? never : client.grant(ms));
  const store = bed.storeOf({ ...client, grant });
  const [stuck, next] = [claimOf('stuck', { ttlMs: 7000 }), mortal('next')];
  const claiming = claim(store, stuck, next);
  const other = bed.store(server);
  await until('was the other held', async () => (await holders(other, 'next')) === 1);
  refuse(new Error('It is too late.'));
  expect(await claiming).toMatchObject([{ state: 'error' }, { state: 'held' }]);
});

inBed('a lease that nobody uses is not kept alive', async (bed) => {
  const store = bed.store(server);
  const one = claimOf('a', { ttlMs: 1000 });
  await claim(store, one);
  const lease = await leaseOf(bed, one);
  await store.release([one]);
  await until('ended the lease', async () => {
    return (await server.etcdctl('lease', 'timetolive', lease)).includes('already expired');
  });
});

inBed('two thousand claims are kept alive by a few requests', async (bed) => {
  const { store, counts } = counted(bed);
  const claims = Array.from({ length: 2000 }, (_, n) => claimOf(`r${n}`));
  for (let n = 0; n < claims.length; n += 50) await claim(store, ...claims.slice(n, n + 50));
  expect(counts).toMatchObject({ grant: 1 });
  const before = { ...counts };
  // Later than where a lease counts as fresh.
  await sleep(LONG_TTL_MS / 5);
  const batches = Array.from({ length: 40 }, (_, n) => claims.slice(n * 50, n * 50 + 50));
  const statuses = (await Promise.all(batches.map((batch) => store.renew(batch)))).flat();
  expect(statuses.filter(({ state }) => state !== 'held')).toEqual([]);
  expect(counts.keepAlive - before.keepAlive).toBe(1);
  expect(counts.txn - before.txn).toBe(40);
  for (const batch of batches) await store.release(batch);
});

inBed('a note on another hold says nothing of the one that ended', async (bed) => {
  const locks = bed.patientLocks(server);
  const held = await patiently(locks.mutex('a'));
  const next = patiently(bed.patientLocks(server).mutex('a'));
  await hasWaiter(locks, 'a');
  const client = bed.use(etcdClient(server.clientUrl));
  const note = { put: { key: bed.keys.note('a'), value: 'evicted 1' } };
  const [{ number = 0n } = {}] = (await locks.inspect('a')).holders;
  const { answers } = await client.txn({ success: [{ range: bed.keys.claims('a') }] });
  const { range } = answers[0] as { readonly range: RangeAnswer };
  const key = range.kvs.find(({ createRevision }) => createRevision * 1024n === number)?.key ?? '';
  await client.txn({ success: [note, { delete: { key } }] });
  // Its lease lives, so it was released.
  expect((await next).takeover).toEqual({ reason: 'released', token: held.token });
});

test.concurrent('a hold that is released with `after` ends on time, before its lease', async () => {
  await using bed = new Bed(generous);
  const { store, counts } = counted(bed, generous);
  const [first, next] = [claimOf('a'), claimOf('a')];
  await claim(store, first);
  await claim(store, next);
  const from = performance.now();
  await store.release([first], { ms: 300 });
  await getIn(store, next);
  const took = performance.now() - from;
  expect(took).toBeGreaterThanOrEqual(300);
  // Its lease would have lasted 6 s.
  expect(took).toBeLessThan(5000);
  expect(counts).toMatchObject({ revoke: 1 });
});
