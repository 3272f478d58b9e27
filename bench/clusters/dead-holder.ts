/**
 * A holder is killed: how long until the next one has the lock, who waits in another process. The
 * session or lease lives on after its last heartbeat, and its servers look now and then.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import type { Locks } from 'holdfast';
import { connect } from 'holdfast/connect';
import { sleep } from '../processes.ts';
import { median, report } from '../result.ts';
import { name, places } from './places.ts';

/** The shortest session of ZooKeeper that its servers grant by default: two ticks. */
const TTL_MS = 4_000;
const BATCHES = 2;
/** Killed one after another, so that they are killed at any time between two heartbeats. */
const HOLDERS = 6;
const KILL_EVERY_MS = TTL_MS / 3 / HOLDERS;
const GOALS_MS: Readonly<Record<string, number>> = {
  etcd: TTL_MS + 1_000,
  // A session is half as long again, and the servers look once in a tick of 2 s.
  zookeeper: 1.5 * TTL_MS + 2_000,
};

export interface HolderOptions {
  readonly url: string;
  readonly resource: string;
  readonly ttlMs: number;
}

const HERE = fileURLToPath(import.meta.url);
const HOLDER = join(HERE, '..', `holder-worker${extname(HERE)}`);

for (const [where, url] of places) {
  const locks = await connect(url, { ttl: TTL_MS });
  const after: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const resources = Array.from({ length: HOLDERS }, (_, n) => `dead-holder:${batch}:${n}`);
    const kills = resources.map((resource, n) =>
      kill(locks, { url, resource, inMs: n * KILL_EVERY_MS }),
    );
    after.push(...(await Promise.all(kills)));
  }
  await locks.close();
  const most = Math.max(...after);
  const goalMs = GOALS_MS[name] ?? 0;
  report({
    figure: `${name}/dead-holder`,
    what: `holdfast, ${where}, ttl ${TTL_MS / 1000} s, ${after.length} holders killed`,
    measured: { 'least ms': Math.min(...after), 'median ms': median(after), 'most ms': most },
    goal: `most ≤ ${goalMs} ms`,
    met: most <= goalMs,
  });
}

/** Answers the time in ms from the end of the process to the next grant. */
async function kill(
  locks: Locks,
  { url, resource, inMs }: { url: string; resource: string; inMs: number },
): Promise<number> {
  const options: HolderOptions = { url, resource, ttlMs: TTL_MS };
  const holder = fork(HOLDER, [JSON.stringify(options)], { stdio: 'inherit' });
  await once(holder, 'message');
  const granted = locks
    .mutex(resource)
    .acquire()
    .then((lease) => ({ lease, at: performance.now() }));
  await sleep(inMs);
  const killedAt = performance.now();
  holder.kill('SIGKILL');
  const { lease, at } = await granted;
  await lease.release();
  return at - killedAt;
}
