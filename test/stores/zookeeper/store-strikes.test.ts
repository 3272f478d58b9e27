/** Single requests of the store fail, get no answer, or are late; nothing is left for ever. */
import { randomUUID } from 'node:crypto';
import type { Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { expect, test } from 'vitest';
import { claimOf, hasWaiter, inBeds, sleep } from '../../methods/faults/bed.ts';
import { gate } from '../../support/gate.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Striking, striking } from './clients.ts';
import { Bed as AnyBed, ask, SEAT, sharedServer, WRITE } from './fault-bed.ts';

const server = await sharedServer();

const inBed = inBeds(() => new Bed());

const TTL_MS = paced(1500);
const UNKNOWN = { state: 'error', error: { outcome: 'unknown' } };
const HELD = { state: 'held' };
const REFUSED = { state: 'gone', why: 'refused' };

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

  /** How many are in the queues of `tries`. */
  async counts(): Promise<number[]> {
    return [await this.count('a'), await this.count('b')];
  }
}

/** Those of several locks in one step. */
function tries(over: Partial<Claim> = {}): Claim[] {
  return ['a', 'b'].map((name) => claimOf(name, { ...over, queue: false }));
}

inBed('a claim that is over while it is entered leaves no node', async (bed) => {
  const { store, strike } = bed.struck();
  // Others keep the session alive.
  await ask(store, claimOf('other', { ttlMs: TTL_MS }));
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

inBed('a release that comes before its claim has a session is final', async (bed) => {
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

inBed('several tries make nothing if a claim comes after they have looked', async (bed) => {
  const { store, strike } = bed.struck();
  const other = bed.store(server);
  const [first, second] = [claimOf('b', SEAT), claimOf('b', SEAT)];
  const mixed = () => [claimOf('a', { queue: false }), claimOf('b', { ...SEAT, queue: false })];
  await ask(other, first);
  strike('multi', () => ask(other, second));
  expect(await store.claimAll?.(mixed())).toMatchObject([REFUSED, REFUSED]);
  expect(await bed.count('b')).toBe(2);
  // Not even for a moment: it would be the node of a queue.
  expect(await bed.looking.exists(`${bed.path}/a`)).toBeUndefined();
  await other.release([second]);
  strike('multi', () => other.release([first]));
  const claims = mixed();
  expect(await store.claimAll?.(claims)).toMatchObject([HELD, HELD]);
  expect(await store.release(claims)).toEqual([true, true]);
});

inBed('several tries look again if one of their queues has come meanwhile', async (bed) => {
  const { store, strike } = bed.struck();
  const other = bed.store(server);
  const claims = tries();
  const quick = claimOf('b');
  strike('multi', async () => {
    await ask(other, quick);
    await other.release([quick]);
  });
  expect(await store.claimAll?.(claims)).toMatchObject([HELD, HELD]);
  expect(await bed.counts()).toEqual([1, 1]);
  expect((await store.renew(claims)).map(({ state }) => state)).toEqual(['held', 'held']);
  expect(await store.release(claims)).toEqual([true, true]);
});

inBed('several tries notice that a queue was removed and made again', async (bed) => {
  const { store, strike } = bed.struck();
  const other = bed.store(server);
  const before = claimOf('b');
  await ask(other, before);
  await other.release([before]);
  // As many have come to the new one.
  strike('multi', async () => {
    await bed.looking.delete(`${bed.path}/b`);
    await ask(other, claimOf('b'));
  });
  expect(await store.claimAll?.(tries())).toMatchObject([REFUSED, REFUSED]);
  expect(await bed.looking.exists(`${bed.path}/a`)).toBeUndefined();
});

test.concurrent.each(['unsent', 'lost', 'unanswered'] as const)(
  'of several tries that are %s none stays',
  async (how) => {
    await using bed = new Bed();
    const { store, strike } = bed.struck();
    const claims = tries();
    strike('multi', how);
    const outcome = how === 'unsent' ? 'failed' : 'unknown';
    const failed = { state: 'error', error: { outcome } };
    expect(await store.claimAll?.(claims)).toMatchObject([failed, failed]);
    const done = how === 'unanswered';
    expect(await bed.counts()).toEqual(done ? [1, 1] : [0, 0]);
    if (how !== 'unsent') {
      // A copy makes nothing, as long as nobody can know.
      const gone = { state: 'gone', why: 'unknown' };
      expect(await store.claimAll?.(claims)).toMatchObject([gone, gone]);
    }
    expect(await store.release(claims)).toEqual([done, done]);
    expect(await bed.counts()).toEqual([0, 0]);
  },
);

inBed('several tries with a lost reply are swept away after their TTL', async (bed) => {
  const { store, strike } = bed.struck();
  // Others keep the session alive.
  const other = claimOf('other', { ttlMs: TTL_MS });
  await ask(store, other);
  strike('multi', 'unanswered');
  await store.claimAll?.(tries({ ttlMs: TTL_MS }));
  expect(await bed.counts()).toEqual([1, 1]);
  await until('were they gone', async () => {
    await store.renew([other]);
    return (await bed.counts()).every((count) => count === 0);
  });
});

inBed('a claim that loses the mutex while it waits leaves with its leases', async (bed) => {
  const { looking: java, path } = bed;
  const [gates, leases] = [`${path}/a/locks`, `${path}/a/leases`];
  for (const each of [path, `${path}/a`, leases]) await java.create(each, { kind: 'container' });
  await java.create(`${leases}/_c_${randomUUID()}-lease-`, { kind: 'ephemeral-sequential' });
  const store = zookeeperStore(server.url, { path, recipe: 'semaphore' });
  const locks = bed.locksOn(store, TTL_MS);
  const waiting = locks.semaphore('a', { limit: 1 }).acquire();
  waiting.catch(() => {});
  await hasWaiter(locks, 'a');
  const lease = (await java.getChildren(leases)).children.find((name) => /permits/.test(name));
  const [gate] = (await java.getChildren(gates)).children;
  await java.delete(`${gates}/${gate}`);
  // Java waits until all leases are few enough, so a second newcomer must not find the first's.
  await until('was its lease gone', async () => {
    return !(await java.getChildren(leases)).children.includes(lease ?? '');
  });
});
