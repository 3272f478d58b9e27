/** 5,000 leases held by one process: what their heartbeats cost the server and the process. */
import { performance } from 'node:perf_hooks';
import { createLocks, type Lease } from 'holdfast';
import { zookeeperStore } from 'holdfast/zookeeper';
import { TTL_MS } from '../contender.ts';
import { sleep } from '../processes.ts';
import { report } from '../result.ts';
import { cpuMicros } from '../sql-stores/server.ts';
import { monitored, packets, url } from './contest.ts';

const LEASES = 5_000;
const INTERVAL_MS = TTL_MS / 3;
const INTERVALS = 2;
/** As many as core has in one call, and one for the session that they share. */
const GOAL = LEASES / 100 + 1;

global.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const bytesBefore = await dataBytes();
const locks = createLocks(zookeeperStore(url), { ttl: TTL_MS });
const names = Array.from({ length: LEASES }, (_, n) => `lease:${n}`);
const leases: Lease[] = await Promise.all(names.map((one) => locks.mutex(one).acquire()));
// From the middle between two heartbeats to the middle of two others.
await sleep(INTERVAL_MS / 2);
global.gc?.();
const heapBytes = process.memoryUsage().heapUsed - heapBefore;
const serverBytes = (await dataBytes()) - bytesBefore;
const before = (await packets()).received;
const start = { server: cpuMicros(), own: process.cpuUsage(), at: performance.now() };
await sleep(INTERVALS * INTERVAL_MS);
const { user, system } = process.cpuUsage(start.own);
const serverMicros = cpuMicros() - start.server;
const lastedMs = performance.now() - start.at;
const perBeat = ((await packets()).received - before) / INTERVALS;
const held = leases.filter((lease) => lease.held).length;
if (held !== LEASES) throw new Error(`${LEASES - held} of ${LEASES} leases were lost.`);
report({
  figure: 'zookeeper/leases',
  what: `holdfast, 5,000 leases, ttl ${TTL_MS / 1000} s`,
  measured: {
    'requests a heartbeat': perBeat,
    'server CPU %': serverMicros / 10 / lastedMs,
    'server CPU µs a lease': serverMicros / INTERVALS / LEASES,
    'server bytes a lease': serverBytes / LEASES,
    'client CPU %': (user + system) / 10 / lastedMs,
    'client KB a lease': heapBytes / 1024 / LEASES,
  },
  goal: `≤ ${GOAL} requests`,
  met: perBeat <= GOAL + 1,
});
await Promise.all(leases.map((lease) => lease.release()));
await locks.close();

/** Of paths and data, as the server estimates it. */
async function dataBytes(): Promise<number> {
  const text = await monitored(url.replace('zookeeper://', ''));
  return Number(/^zk_approximate_data_size\t(\d+)$/m.exec(text)?.[1]);
}
