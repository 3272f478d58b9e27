/** 10,000 leases held by one process: what their heartbeats cost the server and the process. */
import { performance } from 'node:perf_hooks';
import { createLocks, type Lease } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { TTL_MS } from '../contender.ts';
import { sleep } from '../processes.ts';
import { report } from '../result.ts';
import { difference, observe, serverUrl } from './server.ts';

const LEASES = 10_000;
const INTERVAL_MS = TTL_MS / 3;
const INTERVALS = 3;
const GOAL = 100;

const url = serverUrl();
const client = new Redis(url);
const server = observe(url);
const locks = createLocks(redisStore(client, { maxTtl: TTL_MS }), { ttl: TTL_MS });
const leases: Lease[] = await Promise.all(
  Array.from({ length: LEASES }, (_, n) => locks.mutex(`lease:${n}`).acquire()),
);

// From the middle between two heartbeats to the middle of two others.
await sleep(INTERVAL_MS / 2);
const start = { work: await server.work(false), cpu: process.cpuUsage(), at: performance.now() };
await sleep(INTERVALS * INTERVAL_MS);
const { user, system } = process.cpuUsage(start.cpu);
const lastedMs = performance.now() - start.at;
const work = difference(await server.work(false), start.work);
const held = leases.filter((lease) => lease.held).length;
if (held !== LEASES) throw new Error(`${LEASES - held} of ${LEASES} leases were lost.`);

const commands = work.sent / INTERVALS;
report({
  figure: 'redis/leases',
  what: `holdfast, ${LEASES.toLocaleString('en')} leases, ttl ${TTL_MS / 1000} s`,
  measured: {
    'commands a heartbeat': commands,
    'server CPU %': work.cpuMicros / 10 / lastedMs,
    'server CPU µs a lease': work.cpuMicros / INTERVALS / LEASES,
    'client CPU %': (user + system) / 10 / lastedMs,
  },
  goal: `≤ ${GOAL} commands`,
  met: commands <= GOAL,
});
await Promise.all(leases.map((lease) => lease.release()));
await locks.close();
await client.quit();
server.client.disconnect();
