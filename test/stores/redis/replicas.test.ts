/** Grants that replicas must have. */
import type { Store } from 'holdfast';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimOf, LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { type Replicated, startReplicated } from '../../servers/topologies.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { Bed } from './bed.ts';

let bed: Bed;
let servers: Replicated;

beforeEach(async () => {
  bed = new Bed();
  servers = bed.serve(await startReplicated({ config: ['min-replicas-to-write 0'] }));
});
afterEach(() => bed[Symbol.asyncDispose]());

function open(replicas: number, maxTtl: number): Store {
  return bed.store(servers.primary, { afterDataLoss: 'trust', replicas, maxTtl });
}

it('nothing is granted while too few follow, and everything goes on when they do', async () => {
  // Replicas have a sixth of it; the rest is for a busy machine, to ask and to be answered.
  const ttl = paced(8000);
  const locks = bed.locksOn(open(1, ttl), ttl);
  await (await patiently(locks.mutex('connected'))).release();
  for (const replica of servers.replicas) replica.pause();
  const refused = { code: 'STORE', retryable: true, message: expect.stringContaining('replicas') };
  await expect(locks.mutex('a').tryAcquire()).rejects.toMatchObject(refused);
  const waiting = patiently(locks.mutex('a'));
  for (const replica of servers.replicas) replica.resume();
  const lease = await waiting;
  expect(lease).toHaveProperty('held', true);
  await lease.release();
});

it('a lease ends when its heartbeats reach too few', async () => {
  const ttl = paced(1500);
  const locks = bed.locksOn(open(2, ttl), ttl);
  // On a busy machine a replica may be late for a grant; then nothing is granted yet.
  const lease = await patiently(locks.mutex('a'));
  servers.replicas[0]?.pause();
  await expect.poll(() => lease.state).toBe('lost');
  servers.replicas[0]?.resume();
});

it('what is kept is on the replicas, or nobody is told that it is kept', async () => {
  const store = open(2, LONG_TTL_MS);
  const claim = claimOf('a');
  const [status] = await store.claim([claim]);
  expect(status).toMatchObject({ state: 'held' });
  const record = { text: 'done', ms: 60_000 };
  expect(await store.keep?.(claim, record)).toBe(true);
  for (const replica of servers.replicas) {
    expect(await replica.command('GET', 'holdfast:!kept:a')).toBe('1done');
  }
  servers.replicas[0]?.pause();
  const unknown = { code: 'STORE', retryable: true, outcome: 'unknown' };
  const again = { ...record, text: 'again' };
  await expect(store.keep?.(claim, again)).rejects.toMatchObject(unknown);
  servers.replicas[0]?.resume();
});
