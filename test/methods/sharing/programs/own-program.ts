/**
 * A program of ours that does as it is told, by the lines of foreign-program.ts. Arguments: the
 * store, the TTL in ms, and what the store needs.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createLocks, type Lease, type Lock } from 'holdfast';
import { fencedLockStore, hazelcastStore } from 'holdfast/hazelcast';
import type { Store } from 'holdfast/store';
import { zookeeperStore } from 'holdfast/zookeeper';
import { hazelcastClient } from '../../../servers/hazelcast-cluster.ts';

const [kindOfStore = '', ttl = '', ...places] = process.argv.slice(2);
const ttlMs = Number(ttl);

const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  'fenced-lock': async () => fencedLockStore(await hazelcastClient(places), { sessionTtl: ttlMs }),
  hazelcast: async () => hazelcastStore(await hazelcastClient(places)),
  zookeeper: async () => {
    const [url = '', path = ''] = places;
    return zookeeperStore(url, { path, latches: true });
  },
};

const store = await STORES[kindOfStore]?.();
if (!store) throw new Error(`no store: ${kindOfStore}`);
const locks = createLocks(store, { ttl: ttlMs });
const leases = new Map<string, Lease>();

/** Each task has a claim of its own; a seat of an election is a semaphore's only permit. */
function lockOf(kind: string, name: string): Lock {
  if (kind === 'latch') return locks.semaphore(name, { limit: 1 });
  return locks.mutex(name, { fair: true });
}

async function acquire(
  thread: string,
  [kind, name]: readonly [string, string],
  waitMs: number,
): Promise<boolean> {
  const lock = lockOf(kind, name);
  const lease = await (waitMs === 0 ? lock.tryAcquire() : lock.acquire());
  if (lease) leases.set(thread + name, lease);
  return lease !== null;
}

async function release(thread: string, name: string): Promise<string> {
  await leases.get(thread + name)?.release();
  return '';
}

/** Only the lock guards the number. */
async function count([lock, file]: readonly [Lock, string], ms: number): Promise<number> {
  let times = 0;
  for (const end = performance.now() + ms; performance.now() < end; times++) {
    const lease = await lock.acquire();
    const number = Number(await readFile(file, 'utf8'));
    await writeFile(file, `${number + 1}`);
    await lease.release();
  }
  return times;
}

async function command(thread: string, words: readonly string[]): Promise<unknown> {
  const [verb, kind = '', name = '', third = '', fourth = ''] = words;
  switch (verb) {
    case 'version':
      return process.version;
    case 'acquire':
      return acquire(thread, [kind, name], Number(third));
    case 'release':
      return release(thread, name);
    case 'count':
      return count([lockOf(kind, name), third], Number(fourth));
    case 'fence':
      return (leases.get(thread + kind)?.token ?? 0n) / 1024n;
    case 'loss':
      return leases.get(thread + kind)?.loss?.reason ?? 'none';
    default:
      throw new Error(`no command: ${verb}`);
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [number, thread = '', ...words] = line.split('\t');
  command(thread, words).then(
    (answer) => console.log([number, 'ok', `${answer}`].join('\t')),
    (error: unknown) => console.log([number, 'failed', `${error}`].join('\t')),
  );
});
// Without a word to the members: what it holds ends with its session.
lines.on('close', () => process.exit());
