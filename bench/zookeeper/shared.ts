/**
 * What several hold at a time: permits, and the sides of a read-write lock. As two sessions, 2 to
 * 200 tasks want it all the time and hold it for 1 ms; what an acquisition costs must not grow with
 * their number.
 */
import { performance } from 'node:perf_hooks';
import { createLocks, type Lease, type Locks } from 'holdfast';
import { zookeeperStore } from 'holdfast/zookeeper';
import { TTL_MS } from '../contender.ts';
import { sleep } from '../processes.ts';
import { median, report } from '../result.ts';
import { cpuMicros } from '../sql-stores/server.ts';
import { packets, url } from './contest.ts';

const TASKS = [2, 10, 100, 200];
const LIMIT = 5;
/** One of so many tasks writes. */
const WRITERS = 10;
const HOLD_MS = 1;
/** A queue that has yet to form asks for more than one that stands. */
const SETTLE_MS = 500;
const FOR_MS = 2_000;
/** So much more than with fewer tasks, but as many as can wait. */
const GROWTH = 1.3;
const LEAST = 10;

interface Shape {
  readonly what: string;
  take(locks: Locks, resource: string, task: number): Promise<Lease>;
}

const SHAPES: readonly Shape[] = [
  {
    what: `${LIMIT} permits`,
    take: (locks, resource) => locks.semaphore(resource, { limit: LIMIT }).acquire(),
  },
  { what: 'readers', take: (locks, resource) => locks.rwLock(resource).read.acquire() },
  {
    what: `readers, 1 of ${WRITERS} a writer`,
    take: (locks, resource, task) => {
      const { read, write } = locks.rwLock(resource, { fair: true });
      return (task % WRITERS === 0 ? write : read).acquire();
    },
  },
];

const sessions = [open(), open()];
for (const shape of SHAPES) {
  let least = Number.NaN;
  for (const tasks of TASKS) {
    const requests = await measure(shape, { tasks, least });
    if (tasks === LEAST) least = requests;
  }
}
await Promise.all(sessions.map((locks) => locks.close()));

/** Answers the requests an acquisition; `least` are those of a small crowd, once they are known. */
async function measure(
  { what, take }: Shape,
  { tasks, least }: { tasks: number; least: number },
): Promise<number> {
  const resource = `${what}:${tasks}`;
  const waitsMs: number[] = [];
  let acquisitions = 0;
  let over = false;
  const all = Array.from({ length: tasks }, async (_, task) => {
    const locks = sessions[task % sessions.length] as Locks;
    while (!over) {
      const asked = performance.now();
      const lease = await take(locks, resource, task);
      acquisitions++;
      waitsMs.push(performance.now() - asked);
      if (!over) await sleep(HOLD_MS);
      await lease.release();
    }
  });
  await sleep(SETTLE_MS);
  const before = { ...(await packets()), cpu: cpuMicros(), acquisitions, waits: waitsMs.length };
  const since = performance.now();
  await sleep(FOR_MS);
  const seconds = (performance.now() - since) / 1000;
  const count = acquisitions - before.acquisitions;
  const waited = median(waitsMs.slice(before.waits));
  const { received, sent } = await packets();
  const serverMicros = cpuMicros() - before.cpu;
  over = true;
  await Promise.all(all);
  const requests = (received - before.received) / count;
  report({
    figure: 'zookeeper/shared',
    what: `${what}, ${tasks} tasks`,
    measured: {
      'acquisitions/s': count / seconds,
      'median wait ms': waited,
      'requests an acquisition': requests,
      'events an acquisition': (sent - received - (before.sent - before.received)) / count,
      'server CPU µs': serverMicros / count,
    },
    ...(least > 0 && {
      goal: `requests ≤ ${GROWTH} × those of ${LEAST} tasks`,
      met: requests <= GROWTH * least,
    }),
  });
  return requests;
}

function open(): Locks {
  return createLocks(zookeeperStore(url), { ttl: TTL_MS });
}
