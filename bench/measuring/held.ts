/** So many leases of one process, through some heartbeats: what they cost both sides. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Lease } from 'holdfast';
import { subjectAt } from '../stores/index.ts';
import { locksAt } from '../stores/ours.ts';
import { sleep } from './processes.ts';
import { socketBytes } from './sockets.ts';
import { difference, type Place, TTL_MS } from './subject.ts';

const INTERVAL_MS = TTL_MS / 3;
/** For the longest pause of the event loop; more often would itself be a load. */
const LOOK_EVERY_MS = 20;

export interface Holding {
  readonly count: number;
  /** Between heartbeats, so many times. */
  readonly intervals: number;
}

/** What could not be measured is not a finite number. */
export interface Held {
  /** At each heartbeat, and what went over the wire for it. */
  readonly asked: number;
  readonly wireBytes: number;
  readonly serverCpuPercent: number;
  /** Of a lease, at each heartbeat. */
  readonly serverMicros: number;
  readonly serverBytes: number;
  readonly clientCpuPercent: number;
  readonly longestPauseMs: number;
  /** Of a lease. */
  readonly bytes: number;
}

export async function holdLeases(place: Place, { count, intervals }: Holding): Promise<Held> {
  const { asks, observe } = await subjectAt(place.url);
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
  const start = { cpu: process.cpuUsage(), at: performance.now(), wire: socketBytes() };
  delay.enable();
  await sleep(intervals * INTERVAL_MS);
  delay.disable();
  const { user, system } = process.cpuUsage(start.cpu);
  const lastedMs = performance.now() - start.at;
  const wireBytes = (socketBytes() - start.wire) / intervals;
  const work = difference(await observer.work(), before);
  const held = leases.filter((lease) => lease.held).length;
  if (held !== count) throw new Error(`${count - held} of ${count} leases were lost.`);
  await Promise.all(leases.map((lease) => lease.release()));
  await locks.close();
  await observer.close();

  const serverMicros = work['server CPU µs'] ?? Number.NaN;
  return {
    asked: (work[asks] ?? Number.NaN) / intervals,
    wireBytes,
    serverCpuPercent: serverMicros / 10 / lastedMs,
    serverMicros: serverMicros / intervals / count,
    serverBytes,
    clientCpuPercent: (user + system) / 10 / lastedMs,
    // The time between two looks counts as delay.
    longestPauseMs: delay.max / 1e6 - LOOK_EVERY_MS,
    bytes,
  };
}

/** What is alive, in bytes, in and beside the JavaScript heap. */
function memory(): number {
  if (!globalThis.gc) throw new Error('This figure needs node --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
