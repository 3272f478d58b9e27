/** 10,000 leases held by one process: what their heartbeats cost, and their memory. */

import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { createLocks, type Lease } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { counted } from './counted.ts';
import { scratchFolder, sleep } from './processes.ts';
import { report } from './result.ts';

const FIGURE = 'leases';
const LEASES = 10_000;
const TTL_MS = 10_000;
const INTERVAL_MS = TTL_MS / 3;
const INTERVALS = 3;
/** For the longest pause of the event loop; more often would itself be a load. */
const LOOK_EVERY_MS = 20;
const GOAL_BYTES = 2 * 1024;

const file = join(scratchFolder(), 'locks.db');
const { store, calls } = counted(sqliteStore(file));
const locks = createLocks(store, { ttl: TTL_MS });
const names = Array.from({ length: LEASES }, (_, n) => `lease:${n}`);

// What the first claims build once is not the memory of a lease.
await Promise.all(names.slice(0, 200).map((name) => locks.mutex(name).run(() => {})));
const empty = memory();
const leases: Lease[] = await Promise.all(names.map((name) => locks.mutex(name).acquire()));
const bytes = (memory() - empty) / LEASES;

// From the middle between two heartbeats to the middle of two others.
await sleep(INTERVAL_MS / 2);
const start = { calls: calls(), cpu: process.cpuUsage(), at: performance.now() };
const delay = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
delay.enable();
await sleep(INTERVALS * INTERVAL_MS);
delay.disable();
const cpu = process.cpuUsage(start.cpu);
const cpuShare = (cpu.user + cpu.system) / 1000 / (performance.now() - start.at);
const beats = calls() - start.calls;
const held = leases.filter((lease) => lease.held).length;
if (held !== LEASES) throw new Error(`${LEASES - held} of ${LEASES} leases were lost.`);

report({
  figure: FIGURE,
  what: `holdfast, ${LEASES.toLocaleString('en')} leases, ttl ${TTL_MS / 1000} s`,
  measured: {
    'store calls a heartbeat': beats / INTERVALS,
    'CPU %': 100 * cpuShare,
    // The time between two looks counts as delay.
    'longest pause ms': delay.max / 1e6 - LOOK_EVERY_MS,
    'bytes a lease': bytes,
  },
  goal: '≤ 2,048 bytes a lease',
  met: bytes <= GOAL_BYTES,
});
await Promise.all(leases.map((lease) => lease.release()));
await locks.close();

/** What is alive, in bytes, in and beside the JavaScript heap. */
function memory(): number {
  if (!globalThis.gc) throw new Error('This figure needs node --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
