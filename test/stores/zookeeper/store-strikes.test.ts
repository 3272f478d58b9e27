/** Single requests of the store fail, get no answer, or are late; nothing is left for ever. */
import { randomUUID } from 'node:crypto';
import type { Store } from 'holdfast';
import { zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, expect, test } from 'vitest';
import { claimOf, hasWaiter, sleep } from '../../methods/faults/bed.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { gate } from '../../support/gate.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed as AnyBed, ask, WRITE } from './fault-bed.ts';
import { type Striking, striking } from './striking-client.ts';

const server = await startZookeeper();
afterAll(() => server.close());

const TTL_MS = paced(1500);
const UNKNOWN = { state: 'error', error: { outcome: 'unknown' } };

class Bed extends AnyBed {
  constructor() {
    super(server);
  }

  struck(): { readonly store: Store; readonly strike: Striking['strike'] } {
    const { client, strike } = striking(zookeeperClient(server.url));
    return { store: this.use(zookeeperStore(client, { path: this.path })), strike };
  }

  async count(resource: string): Promise<number> {
    return (await this.nodes(resource)).length;
  }
}

test.concurrent('a claim that is over while it is entered leaves no node', async () => {
  await using bed = new Bed();
  const { store, strike } = bed.struck();
  // Others keep the session alive.
  const other = claimOf('other', { ttlMs: TTL_MS });
  await ask(store, other);
  const claim = claimOf('a', { ttlMs: TTL_MS });
  strike('createProtected', 'lost');
  expect(await ask(store, claim)).toMatchObject(UNKNOWN);
  const send = gate();
  strike('createProtected', send.opened);
  const answer = ask(store, claim);
  // Until nobody needs it any more, and it is swept away.
  await sleep(TTL_MS + 200);
  send.open();
  expect(await answer).toMatchObject({ state: 'gone' });
  await until('was it gone', async () => (await bed.count('a')) === 0);
});

test.concurrent('a release that comes before its claim has a session is final', async () => {
  await using bed = new Bed();
  const store = bed.store(server);
  const claim = claimOf('a');
  const answer = ask(store, claim);
  // It has asked for its session, which takes some round trips.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await store.release([claim])).toEqual([false]);
  expect(await answer).toMatchObject({ state: 'gone' });
  expect(await bed.count('a')).toBe(0);
});

test.concurrent.each(['unsent', 'lost', 'unanswered'] as const)(
  'a writer whose downgrade is %s can be released',
  async (how) => {
    await using bed = new Bed();
    const { store, strike } = bed.struck();
    const claim = claimOf('a', WRITE);
    await ask(store, claim);
    strike('multi', how);
    await expect(store.downgrade?.(claim)).rejects.toMatchObject({ code: 'STORE' });
    expect(await store.release([claim])).toEqual([true]);
    expect(await bed.count('a')).toBe(0);
  },
);

test.concurrent('a claim that loses the mutex while it waits leaves with its leases', async () => {
  await using bed = new Bed();
  const { looking: java, path } = bed;
  const [gates, leases] = [`${path}/a/locks`, `${path}/a/leases`];
  for (const each of [path, `${path}/a`, leases]) await java.create(each, { kind: 'container' });
  await java.create(`${leases}/_c_${randomUUID()}-lease-`, { kind: 'ephemeral-sequential' });
  const store = zookeeperStore(server.url, { path, recipe: 'semaphore' });
  const locks = bed.locksOn(store, TTL_MS);
  locks
    .semaphore('a', { limit: 1 })
    .acquire()
    .catch(() => {});
  await hasWaiter(locks, 'a');
  const lease = (await java.getChildren(leases)).children.find((name) => /permits/.test(name));
  const [gate] = (await java.getChildren(gates)).children;
  await java.delete(`${gates}/${gate}`);
  // Java waits until all leases are few enough, so a second newcomer must not find the first's.
  await until('was its lease gone', async () => {
    return !(await java.getChildren(leases)).children.includes(lease ?? '');
  });
});
