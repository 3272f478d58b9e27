/**
 * What is done to a lock beside acquire and release: a lease goes on in another program, a newer
 * request ends the wait of an earlier one, several locks are taken in one step.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, type Locks, tryAllOf } from 'holdfast';
import { quantile, report, timed } from '../measuring/result.ts';
import { difference, type Place } from '../measuring/subject.ts';
import { watchedAt } from '../stores/index.ts';
import { locksAt } from '../stores/ours.ts';

const TIMES = 100;
/** Fewer: on one store a request that waits hears of its end with its next heartbeat. */
const REPLACED = 5;
/** Within which all who wait are in their queues, and see to what they wait for. */
const SETTLED_MS = 500;
const NEWEST = { ifBusy: 'replace-waiting' } as const;

/** Measures a deed that is done so many times. */
type Measuring = (what: string, times: number, deed: (n: number) => unknown) => Promise<void>;

export async function measure(places: readonly Place[]): Promise<void> {
  for (const { url, pids } of places) {
    const { name, asks, observe } = await watchedAt(url);
    const observer = await observe({ url, pids });
    const measuring: Measuring = async (what, times, deed) => {
      let n = 0;
      const before = await observer.work();
      const { micros } = await timed(times, () => deed(n++));
      const work = difference(await observer.work(), before);
      const [median, p99] = [0.5, 0.99].map((share) => quantile(micros, share) / 1000);
      const requests = (work[asks] ?? Number.NaN) / times;
      const measured = { 'median ms': median as number, 'p99 ms': p99 as number, requests };
      report({ what: `${name}, ${what}`, measured });
    };
    const [locks, others] = [await locksAt(url), await locksAt(url)];
    for (const part of [handOver, replace, book]) {
      await part(locks, others, measuring).catch(unlessUnsupported);
    }
    await Promise.all([locks.close(), others.close()]);
    await observer.close?.();
  }
}

async function handOver(locks: Locks, others: Locks, measuring: Measuring): Promise<void> {
  const names = Array.from({ length: TIMES }, (_, n) => `passed:${n}`);
  const leases = await Promise.all(names.map((name) => locks.mutex(name).acquire()));
  await measuring('hand over and resume', TIMES, async (n) => {
    const text = await leases[n]?.handOver();
    await others.resume(text ?? '');
  });
}

/** From the newer request to the end of the earlier one's wait. */
async function replace(locks: Locks, others: Locks, measuring: Measuring): Promise<void> {
  const names = Array.from({ length: REPLACED }, (_, n) => `newest:${n}`);
  await Promise.all(names.map((name) => locks.mutex(name).acquire()));
  const earlier = names.map((name) =>
    locks
      .mutex(name)
      .acquire(NEWEST)
      .catch(() => {}),
  );
  await sleep(SETTLED_MS);
  await measuring('replace one that waits', REPLACED, (n) => {
    others
      .mutex(names[n] ?? '')
      .acquire(NEWEST)
      .catch(() => {});
    return earlier[n];
  });
}

async function book(locks: Locks, _: Locks, measuring: Measuring): Promise<void> {
  const three = ['a', 'b', 'c'].map((name) => locks.mutex(`booked:${name}`));
  await (await tryAllOf(three))?.release();
  await measuring('three by tryAllOf, and released', TIMES, async () => {
    await (await tryAllOf(three))?.release();
  });
}

/** Not every store can do all of it. */
function unlessUnsupported(error: unknown): void {
  if (!isLockError(error, 'UNSUPPORTED')) throw error;
}
