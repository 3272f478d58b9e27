/** What it costs that somebody waits, while the holder goes on holding. */
import { performance } from 'node:perf_hooks';
import { sleep } from '../measuring/processes.ts';
import { report } from '../measuring/result.ts';
import { difference, type Place, TTL_MS } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { locksAt } from '../stores/ours.ts';

/** Two heartbeats, whenever it begins. */
const FOR_MS = (2 * TTL_MS) / 3;
/** A waiter has heartbeats too, one in a third of its ttl, and asks nothing else; rounded up. */
const BEATS = 0.4;
/** The first moments of a wait are not like those that follow. */
const SETTLE_MS = 500;

export async function measure([place]: readonly [Place]): Promise<void> {
  const { asks, observe, counts } = await subjectAt(place.url);
  const observer = await observe(place);
  let idle = { asked: 0, cpuMs: 0 };
  for (const waiters of [0, 1, 100]) {
    const [holder, others] = [await locksAt(place.url), await locksAt(place.url)];
    const lease = await holder.mutex(`waiting:${waiters}`).acquire();
    const lock = others.mutex(`waiting:${waiters}`, { fair: true });
    const turns = Array.from({ length: waiters }, async () => (await lock.acquire()).release());
    await sleep(SETTLE_MS);
    const [before, cpu, since] = [await observer.work(), process.cpuUsage(), performance.now()];
    await sleep(FOR_MS);
    const seconds = (performance.now() - since) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const work = difference(await observer.work(), before);
    const { [asks]: asked = Number.NaN, 'server CPU µs': server = Number.NaN } = work;
    const cpuMs = (user + system) / 1000 / seconds;
    if (waiters === 0) idle = { asked, cpuMs };
    const each = (asked - idle.asked) / seconds / waiters;
    const beats = { goal: `≤ ${BEATS} ${asks}/s a waiter`, met: each <= BEATS };
    const asleep = { goal: '≤ 1 ms CPU/s more', met: cpuMs - idle.cpuMs <= 1 };
    report({
      what: `holdfast, ${waiters === 1 ? '1 waits' : `${waiters} wait`} for one holder`,
      measured: {
        [`${asks}/s`]: asked / seconds,
        'server CPU ms/s': server / 1000 / seconds,
        'client CPU ms/s': cpuMs,
        'switches/s': (work.switches ?? Number.NaN) / seconds,
      },
      // Where there is no server, a waiter is a cost to its own process alone.
      ...(waiters > 0 && (counts && waiters === 1 ? asleep : beats)),
    });
    await lease.release();
    await Promise.all(turns);
    await Promise.all([holder.close(), others.close()]);
  }
  await observer.close();
}
