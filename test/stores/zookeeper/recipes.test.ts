/** Queues with the nodes of other recipes of Curator, whose programs a session plays here. */
import { randomUUID } from 'node:crypto';
import { createLocks, evict, type Locks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { type ZookeeperSession, zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Recipe } from '../../../src/stores/zookeeper/layout.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';

let server: ZookeeperServer;
let java: ZookeeperSession;
const all: Locks[] = [];

beforeAll(async () => {
  server = await startZookeeper();
  java = zookeeperClient(server.url).start();
});
afterAll(async () => {
  await Promise.all(all.map((locks) => locks.close({ drain: 0 })));
  await java.close();
  await server.close();
});

function ours(recipe: Recipe): Locks {
  const locks = createLocks(zookeeperStore(server.url, { path: '/played', recipe }), {
    ttl: '20s',
  });
  all.push(locks);
  return locks;
}

async function folder(...names: readonly string[]): Promise<string> {
  let path = '/played';
  for (const name of names) {
    path += `/${name}`;
    await java.create(path, { kind: 'container' }).catch(() => {});
  }
  return path;
}

/** A node as a program in Java makes it. */
async function enter(path: string, base: string): Promise<string> {
  const kind = 'ephemeral-sequential';
  return (await java.create(`${path}/_c_${randomUUID()}-${base}`, { kind })).path;
}

async function namesIn(path: string): Promise<string[]> {
  const { children } = await java.getChildren(path);
  return children.map((name) => name.replace(/^_c_.{36}-|\d{10}$/g, '')).sort();
}

async function waiting(locks: Locks, name: string, count: number): Promise<void> {
  await until(`did ${count} wait`, async () => {
    return (await locks.inspect(name)).waiters.length === count;
  });
}

test('a candidate waits for a latch in Java, under the name of a latch', async () => {
  // The root is made with the first lock.
  const locks = ours('latch');
  await locks.inspect('office');
  const path = await folder('office');
  const first = await enter(path, 'latch-');
  const candidate = createElection(locks, 'office').campaign();
  await waiting(locks, 'office', 1);
  expect(await namesIn(path)).toEqual(['latch-', 'latch-']);
  expect(candidate.state).toBe('standby');
  await java.delete(first);
  await until('did it lead', async () => candidate.state === 'leader');
  await candidate.resign();
});

test('nothing is written to a latch, which would use up the watch of one behind it', async () => {
  const locks = ours('latch');
  const ends = {
    minHold: async () => {
      const lease = await locks.mutex('written', { minHold: 300 }).acquire();
      return () => lease.release();
    },
    evicted: async () => {
      const { token } = await locks.mutex('written').acquire();
      const how = { token, reason: 'it hangs' };
      await expect(evict(locks, 'written', how)).rejects.toMatchObject({ code: 'STORE' });
      return () => evict(locks, 'written', { ...how, now: true });
    },
    elected: async () => {
      const candidate = createElection(locks, 'written').campaign();
      await until('did it lead', async () => candidate.state === 'leader');
      return () => candidate.resign();
    },
  };
  for (const begin of Object.values(ends)) {
    const end = await begin();
    const path = await folder('written');
    const [name = ''] = (await java.getChildren(path)).children;
    const behind = await enter(path, 'latch-');
    const changed = new Promise((resolve) => {
      void java.getData(`${path}/${name}`, { watch: ({ type }) => resolve(type) });
    });
    await waiting(locks, 'written', 1);
    await end();
    expect(await changed).toBe('deleted');
    await java.delete(behind);
    await until('was it gone', async () => (await namesIn(path)).length === 0);
  }
});

test('leases in Java count as permits, and all are used', async () => {
  const locks = ours('semaphore');
  const semaphore = locks.semaphore('seats', { limit: 3 });
  await locks.inspect('seats');
  const path = await folder('seats', 'leases');
  const first = await enter(path, 'lease-');
  await enter(path, 'lease-');
  const third = await semaphore.acquire({ wait: 10_000 });
  expect(await namesIn(path)).toEqual(['lease-', 'lease-', 'permits-1-of-3-']);
  expect(await namesIn('/played/seats/locks')).toEqual([]);
  const fourth = semaphore.acquire({ wait: 10_000 });
  // It has the mutex, so that no other makes a lease.
  await waiting(locks, 'seats', 1);
  expect(await namesIn('/played/seats/locks')).toEqual(['lock-']);
  expect(await namesIn(path)).toHaveLength(4);
  await java.delete(first);
  await (await fourth).release();
  await third.release();
});

test('a claim that loses the mutex while it waits leaves with its leases', async () => {
  const locks = ours('semaphore');
  const semaphore = locks.semaphore('lost', { limit: 1, ttl: paced(1500) });
  await locks.inspect('lost');
  const path = await folder('lost', 'leases');
  await enter(path, 'lease-');
  const failed = semaphore.acquire({ wait: 60_000 }).catch((error) => error);
  await waiting(locks, 'lost', 1);
  const lease = (await java.getChildren(path)).children.find((name) => /permits/.test(name));
  const [gate] = (await java.getChildren('/played/lost/locks')).children;
  await java.delete(`/played/lost/locks/${gate}`);
  // Java waits until all leases are few enough, so a second newcomer must not find the first's.
  await until('was its lease gone', async () => {
    return !(await java.getChildren(path)).children.includes(lease ?? '');
  });
  void failed;
});
