/**
 * 5,000 leases held by one process: what their heartbeats cost the server and the process, and what
 * becomes of the tables. An hour of heartbeats passes as fast as the server can; so that it cleans
 * up as often as in an hour, it does so more often.
 */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { createLocks, type Lease } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { TTL_MS } from '../contender.ts';
import { sleep } from '../processes.ts';
import { report } from '../result.ts';
import { database, type Facts, name, url } from './database.ts';
import { cpuMicros } from './server.ts';

const FIGURE = `${name}/leases`;
const LEASES = 5_000;
const INTERVAL_MS = TTL_MS / 3;
const INTERVALS = 2;
/** As many as core has in one call. */
const BATCH = 100;
const GOAL = LEASES / BATCH;

/** Of an hour, with the longest ttl that is allowed by default; but stop after so long. */
const LONG_TTL_MS = 30_000;
const HOUR = 3_600_000 / (LONG_TTL_MS / 3);
const LONGEST_MS = 45_000;

const observer = await database.observe(url);
await heartbeats();
await hour();
await observer.close();

async function heartbeats(): Promise<void> {
  const { store, end } = database.store(url, { maxTtl: LONG_TTL_MS });
  const locks = createLocks(store, { ttl: TTL_MS });
  const names = Array.from({ length: LEASES }, (_, n) => `lease:${n}`);
  const leases: Lease[] = await Promise.all(names.map((one) => locks.mutex(one).acquire()));
  // From the middle between two heartbeats to the middle of two others.
  await sleep(INTERVAL_MS / 2);
  const before = await observer.statements();
  const start = { server: cpuMicros(), own: process.cpuUsage(), at: performance.now() };
  await sleep(INTERVALS * INTERVAL_MS);
  const { user, system } = process.cpuUsage(start.own);
  const serverMicros = cpuMicros() - start.server;
  const lastedMs = performance.now() - start.at;
  const statements = ((await observer.statements()) - before) / INTERVALS;
  const held = leases.filter((lease) => lease.held).length;
  if (held !== LEASES) throw new Error(`${LEASES - held} of ${LEASES} leases were lost.`);
  report({
    figure: FIGURE,
    what: `holdfast, 5,000 leases, ttl ${TTL_MS / 1000} s`,
    measured: {
      'statements a heartbeat': statements,
      'server CPU %': serverMicros / 10 / lastedMs,
      'server CPU µs a lease': serverMicros / INTERVALS / LEASES,
      'client CPU %': (user + system) / 10 / lastedMs,
    },
    goal: `≤ ${GOAL} statements`,
    // Whoever listens asks now and then whether the server is still there.
    met: statements <= GOAL + 2,
  });
  await Promise.all(leases.map((lease) => lease.release()));
  await locks.close();
  await end();
}

async function hour(): Promise<void> {
  const { store, end } = database.store(url, { maxTtl: LONG_TTL_MS });
  const claims = Array.from({ length: LEASES }, (_, n): Claim => {
    const id = randomBytes(16).toString('hex');
    const terms = {
      kind: 'mutex',
      permits: 1,
      limit: 1,
      ttlMs: LONG_TTL_MS,
      queue: false,
    } as const;
    return { resource: `lease:${n}`, id, ...terms, holder: { host: 'bench', pid: 1, since: 0 } };
  });
  const batches = Array.from({ length: LEASES / BATCH }, (_, n) =>
    claims.slice(n * BATCH, (n + 1) * BATCH),
  );
  for (const batch of batches) await store.claim(batch);
  await observer.tidy();
  await sizes('the tables of 5,000 leases, tidied up');
  const stopAt = performance.now() + LONGEST_MS;
  let beats = 0;
  for (; beats < HOUR && performance.now() < stopAt; beats++) {
    for (const batch of batches) {
      const statuses = await store.renew(batch);
      const lost = statuses.find(({ state }) => state !== 'held');
      if (lost) throw new Error(`A lease is ${JSON.stringify(lost)}.`);
    }
  }
  const share = beats < HOUR ? `${beats} of the ${HOUR}` : `the ${HOUR}`;
  await sizes(`the same after ${share} heartbeats of an hour`);
  for (const batch of batches) await store.release(batch);
  await store.close?.();
  await end();
}

async function sizes(what: string): Promise<void> {
  const measured: Facts = await observer.sizes();
  report({ figure: FIGURE, what, measured });
}
