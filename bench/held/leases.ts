/** Thousands of leases of one process: what their heartbeats cost both sides, and their memory. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Lease } from 'holdfast';
import { sleep } from '../measuring/processes.ts';
import { report } from '../measuring/result.ts';
import { difference, type Place, TTL_MS } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { locksAt } from '../stores/ours.ts';

const INTERVAL_MS = TTL_MS / 3;
const INTERVALS = 3;
/** For the longest pause of the event loop; more often would itself be a load. */
const LOOK_EVERY_MS = 20;

export async function measure([place]: readonly [Place]): Promise<void> {
  const { asks, leases: goals, observe } = await subjectAt(place.url);
  const { count } = goals;
  const observer = await observe(place);
  const locks = await locksAt(place.url);
  // What the first claims build once is not the memory of a lease.
  const names = Array.from({ length: count }, (_, n) => `lease:${n}`);
  await Promise.all(names.slice(0, 200).map((name) => locks.mutex(name).run(() => {})));
  const [empty, data] = [memory(), (await observer.bytes?.()) ?? Number.NaN];
  const leases: Lease[] = await Promise.all(names.map((name) => locks.mutex(name).acquire()));
  const bytes = (memory() - empty) / count;
  const serverBytes = (((await observer.bytes?.()) ?? Number.NaN) - data) / count;

  // From the middle between two heartbeats to the middle of two others.
  await sleep(INTERVAL_MS / 2);
  const delay = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  const before = await observer.work();
  const start = { cpu: process.cpuUsage(), at: performance.now() };
  delay.enable();
  await sleep(INTERVALS * INTERVAL_MS);
  delay.disable();
  const { user, system } = process.cpuUsage(start.cpu);
  const lastedMs = performance.now() - start.at;
  const work = difference(await observer.work(), before);
  const held = leases.filter((lease) => lease.held).length;
  if (held !== count) throw new Error(`${count - held} of ${count} leases were lost.`);

  const asked = (work[asks] ?? Number.NaN) / INTERVALS;
  const serverMicros = work['server CPU µs'] ?? Number.NaN;
  const ofBytes = goals.bytes !== undefined;
  report({
    what: `holdfast, ${count.toLocaleString('en')} leases, ttl ${TTL_MS / 1000} s`,
    measured: {
      [`${asks} a heartbeat`]: asked,
      'server CPU %': serverMicros / 10 / lastedMs,
      'server CPU µs a lease': serverMicros / INTERVALS / count,
      'server bytes a lease': serverBytes,
      'client CPU %': (user + system) / 10 / lastedMs,
      // The time between two looks counts as delay.
      'longest pause ms': delay.max / 1e6 - LOOK_EVERY_MS,
      'bytes a lease': bytes,
    },
    goal: ofBytes ? `≤ ${goals.bytes} bytes a lease` : `≤ ${goals.asks} ${asks}`,
    met: ofBytes ? bytes <= (goals.bytes ?? 0) : asked <= goals.asks + goals.slack,
  });
  await Promise.all(leases.map((lease) => lease.release()));
  await locks.close();
  await observer.close();
}

/** What is alive, in bytes, in and beside the JavaScript heap. */
function memory(): number {
  if (!globalThis.gc) throw new Error('This figure needs node --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
