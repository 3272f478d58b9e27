/**
 * A program of ours that does as it is told, by the lines of foreign-program.ts. Arguments: the
 * session's TTL in s, and addresses of members.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createLocks, type Lease } from 'holdfast';
import { fencedLockStore } from 'holdfast/hazelcast';
import { hazelcastClient } from '../../../servers/hazelcast-cluster.ts';

const [ttl = '', ...addresses] = process.argv.slice(2);
const client = await hazelcastClient(addresses);
const store = fencedLockStore(client, { sessionTtl: Number(ttl) * 1000 });
const locks = createLocks(store, { ttl: Number(ttl) * 1000 });
const leases = new Map<string, Lease>();

async function acquire(thread: string, name: string, waitMs: number): Promise<boolean> {
  const mutex = locks.mutex(name);
  const lease = await (waitMs === 0 ? mutex.tryAcquire() : mutex.acquire());
  if (lease) leases.set(thread + name, lease);
  return lease !== null;
}

async function release(thread: string, name: string): Promise<string> {
  await leases.get(thread + name)?.release();
  return '';
}

/** Only the lock guards the number. */
async function count(name: string, file: string, ms: number): Promise<number> {
  let times = 0;
  for (const end = performance.now() + ms; performance.now() < end; times++) {
    const lease = await locks.mutex(name).acquire();
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
      return acquire(thread, name, Number(third));
    case 'release':
      return release(thread, name);
    case 'count':
      return count(name, third, Number(fourth));
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
