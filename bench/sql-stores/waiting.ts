/** What it costs that somebody waits, while the holder goes on holding. */
import { performance } from 'node:perf_hooks';
import { createLocks } from 'holdfast';
import { TTL_MS } from '../contender.ts';
import { sleep } from '../processes.ts';
import { report } from '../result.ts';
import { database, name, url } from './database.ts';
import { cpuMicros } from './server.ts';

/** Two heartbeats, whenever it begins. */
const FOR_MS = (2 * TTL_MS) / 3;
/** A waiter has heartbeats too, one in a third of its ttl, and asks nothing else; rounded up. */
const BEATS = 0.4;
/** The first moments of a wait are not like those that follow. */
const SETTLE_MS = 500;

const observer = await database.observe(url);
let idle = 0;
for (const waiters of [0, 1, 100]) {
  const [holder, others] = [open(), open()];
  const lease = await holder.locks.mutex(`waiting:${waiters}`).acquire();
  const lock = others.locks.mutex(`waiting:${waiters}`, { fair: true });
  const turns = Array.from({ length: waiters }, async () => (await lock.acquire()).release());
  await sleep(SETTLE_MS);
  const [before, server, cpu] = [await observer.statements(), cpuMicros(), process.cpuUsage()];
  const since = performance.now();
  await sleep(FOR_MS);
  const seconds = (performance.now() - since) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = ((await observer.statements()) - before) / seconds;
  if (waiters === 0) idle = perSecond;
  const each = (perSecond - idle) / waiters;
  report({
    figure: `${name}/waiting`,
    what: `holdfast, ${waiters === 1 ? '1 waits' : `${waiters} wait`} for one holder`,
    measured: {
      'statements/s': perSecond,
      'server CPU ms/s': (cpuMicros() - server) / 1000 / seconds,
      'client CPU ms/s': (user + system) / 1000 / seconds,
    },
    ...(waiters > 0 && { goal: `≤ ${BEATS} statements/s a waiter`, met: each <= BEATS }),
  });
  await lease.release();
  await Promise.all(turns);
  await Promise.all([holder.close(), others.close()]);
}
await observer.close();

interface Opened {
  readonly locks: ReturnType<typeof createLocks>;
  close(): Promise<void>;
}

function open(): Opened {
  const { store, end } = database.store(url, { maxTtl: TTL_MS });
  const locks = createLocks(store, { ttl: TTL_MS });
  const close = async (): Promise<void> => {
    await locks.close();
    await end();
  };
  return { locks, close };
}
