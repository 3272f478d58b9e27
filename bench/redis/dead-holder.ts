/**
 * A holder is killed: from the end of its lease, as the server sees it, to the grant of the next
 * one, who waits in another process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createLocks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { TTL_MS as MAX_TTL_MS } from '../contender.ts';
import { sleep } from '../processes.ts';
import { median, quantile, report } from '../result.ts';
import { serverUrl } from './server.ts';

const TTL_MS = 600;
const BATCHES = 8;
/** Killed one after another, so that their leases do not end together. */
const HOLDERS = 6;
const KILL_EVERY_MS = 37;
const GOAL_MS = 250;

export interface HolderOptions {
  readonly url: string;
  readonly resource: string;
  readonly ttlMs: number;
}

const HERE = fileURLToPath(import.meta.url);
const HOLDER = join(HERE, '..', `holder-worker${extname(HERE)}`);

const url = serverUrl();
const client = new Redis(url);
const locks = createLocks(redisStore(client, { maxTtl: MAX_TTL_MS }), { ttl: TTL_MS });
const after: number[] = [];
for (let batch = 0; batch < BATCHES; batch++) {
  const names = Array.from({ length: HOLDERS }, (_, n) => `dead-holder:${batch}:${n}`);
  after.push(...(await Promise.all(names.map((name, n) => kill(name, n * KILL_EVERY_MS)))));
}
await locks.close();
await client.quit();

report({
  figure: 'redis/dead-holder',
  what: `holdfast, ttl ${TTL_MS} ms, ${after.length} holders killed`,
  measured: {
    'median ms': median(after),
    'p99 ms': quantile(after, 0.99),
    'least ms': Math.min(...after),
  },
  goal: `p99 ≤ ${GOAL_MS} ms`,
  met: quantile(after, 0.99) <= GOAL_MS,
});

/** Answers the time in ms from the end of the lease to the next grant. */
async function kill(resource: string, inMs: number): Promise<number> {
  const options: HolderOptions = { url, resource, ttlMs: TTL_MS };
  const holder = fork(HOLDER, [JSON.stringify(options)], { stdio: 'inherit' });
  await once(holder, 'message');
  const granted = locks
    .mutex(resource)
    .acquire()
    .then((lease) => ({ lease, at: performance.now() }));
  await sleep(inMs);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const asked = performance.now();
  const { holders } = await locks.inspect(resource);
  const left = holders[0]?.leftMs;
  if (left === undefined) throw new Error(`The lease of ${resource} was over before it was seen.`);
  // The server answered later, so this is the earliest end that is possible.
  const end = asked + left;
  const { lease, at } = await granted;
  await lease.release();
  return at - end;
}
