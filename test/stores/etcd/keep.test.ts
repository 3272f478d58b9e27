/** Records of work that is done: how many leases they need, and what stands in etcd for them. */
import type { Claim, Kept } from 'holdfast/store';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { EtcdStore } from '../../../src/stores/etcd/etcd-store.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { until } from '../../support/until.ts';
import { type Counting, counting } from './counting-client.ts';
import { Bed } from './fault-bed.ts';

const HOUR_MS = 3_600_000;

const server = await startEtcd();
afterAll(() => server.close());

interface World {
  readonly bed: Bed;
  readonly counts: Counting['counts'];
  readonly client: EtcdClient;
  claim(count: number): Promise<readonly Claim[]>;
  keep(claim: Claim, record: { text: string; ms: number }): Promise<boolean>;
  recall(claim: Claim): Promise<Kept | undefined>;
}

function world(): World & AsyncDisposable {
  const bed = new Bed(server);
  const { client, counts } = counting(etcdClient(`http://${server.host}:${server.port}`));
  const store = bed.storeOf(client);
  return {
    ...{ bed, counts, client },
    async claim(count) {
      const claims = Array.from({ length: count }, (_, i) => claimOf(`work ${i}`));
      for (const status of await store.claim(claims)) expect(status.state).toBe('held');
      return claims;
    },
    keep: async (claim, record) => store.keep?.(claim, record) ?? false,
    recall: async ({ resource }) => store.recall?.(resource),
    [Symbol.asyncDispose]: () => bed[Symbol.asyncDispose](),
  };
}

test('a hundred records of about one length have one lease', async () => {
  await using at = world();
  const claims = await at.claim(100);
  const before = at.counts.grant;
  for (const [i, claim] of claims.entries()) {
    // 24 hours, and up to a minute less.
    const ms = 24 * HOUR_MS - i * 600;
    expect(await at.keep(claim, { text: `${i}`, ms })).toBe(true);
  }
  expect(at.counts.grant - before).toBe(1);
  for (const [i, claim] of claims.entries()) {
    const kept = await at.recall(claim);
    expect(kept?.text).toBe(`${i}`);
    expect(kept?.leftMs).toBeGreaterThan(24 * HOUR_MS - i * 600 - 60_000);
    expect(kept?.leftMs).toBeLessThan(24 * HOUR_MS * 1.2);
  }
});

test('a record costs one request, and its check none', async () => {
  await using at = world();
  const [claim] = await at.claim(1);
  await at.keep(claim!, { text: 'first', ms: HOUR_MS });
  const before = { ...at.counts };
  await at.keep(claim!, { text: 'second', ms: HOUR_MS });
  expect(at.counts).toEqual({ ...before, txn: before.txn + 1 });
});

test('a lease that somebody has ended is missed, and another one made', async () => {
  await using at = world();
  const [first, second] = await at.claim(2);
  const record = { text: 'done', ms: HOUR_MS };
  expect(await at.keep(first!, record)).toBe(true);
  const reply = await at.client.txn({
    success: [{ range: { key: at.bed.keys.record(first!.resource) } }],
  });
  const [answer] = reply.answers;
  const lease = answer && 'range' in answer ? (answer.range.kvs[0]?.lease ?? 0n) : 0n;
  expect(lease).not.toBe(0n);
  await at.client.revoke(lease);
  expect(await at.recall(first!)).toBeUndefined();
  expect(await at.keep(second!, record)).toBe(true);
  expect((await at.recall(second!))?.text).toBe('done');
});

test('a lease that has not enough left gets no more records', async () => {
  await using bed = new Bed(server);
  const client = etcdClient(`http://${server.host}:${server.port}`);
  const clock = systemClock();
  let passed = 0;
  const later = { ...clock, now: () => clock.now() + passed };
  const store = bed.use(new EtcdStore({ client, keys: bed.keys, clock: later, maxWaiters: 9 }));
  const leaseOf = async (name: string): Promise<bigint | undefined> => {
    const claim = claimOf(name);
    expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
    expect(await store.keep(claim, { text: name, ms: HOUR_MS })).toBe(true);
    const { answers } = await client.txn({ success: [{ range: { key: bed.keys.record(name) } }] });
    const [answer] = answers;
    return answer && 'range' in answer ? answer.range.kvs[0]?.lease : undefined;
  };
  const first = await leaseOf('first');
  // It was made for a tenth more than an hour, or a little more than that.
  passed = 0.3 * HOUR_MS;
  const second = await leaseOf('second');
  expect([typeof first, typeof second, first === second]).toEqual(['bigint', 'bigint', false]);
});

test('what is over is gone from etcd, without anybody', async () => {
  await using at = world();
  const [claim] = await at.claim(1);
  expect(await at.keep(claim!, { text: 'done', ms: 1 })).toBe(true);
  const keys = (): Promise<string> => server.etcdctl('get', '--prefix', `${at.bed.prefix}%/kept-`);
  await until('was it gone', async () => (await keys()).trim() === '');
});

test('names that would end a key, or are in others, have records of their own', async () => {
  await using bed = new Bed(server);
  const store = bed.store(server);
  const names = ['a', 'a/b', 'a%2Fb', '%', '%/', 'kept-a', '\0', '\u{10ffff}'];
  for (const name of names) {
    const claim = claimOf(name);
    expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
    expect(await store.keep?.(claim, { text: name, ms: HOUR_MS })).toBe(true);
    await store.release([claim]);
  }
  for (const name of names) expect((await store.recall?.(name))?.text).toBe(name);
  for await (const name of store.list?.('') ?? []) expect.unreachable(name);
});
