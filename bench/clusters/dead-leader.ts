/**
 * The leader of three servers is killed while two clients pass a lock to each other: the longest
 * time without a grant, until the others have a new leader and the clients are with it. A lock that
 * is held all the time has to stay held.
 */
import type { Locks } from 'holdfast';
import { connect } from 'holdfast/connect';
import { TTL_MS } from '../contender.ts';
import { deed } from '../deed.ts';
import { sleep } from '../processes.ts';
import { median, report } from '../result.ts';
import { contest, name } from './places.ts';

const KILLS = 3;
const HOLD_MS = 1;
const BEFORE_MS = 1_000;
/** Until all is as before; and by then it has to be. */
const AFTER_MS = 8_000;
const PAUSE_MS = 5;

/** In ns of the machine's monotonic clock. */
const grants: number[] = [];
let failures = 0;
let lost = 0;
let over = false;

const outages: number[] = [];
for (let n = 0; n < KILLS; n++) {
  outages.push(await outage(`dead-leader:${n}`));
  await deed('mend');
}
report({
  figure: `${name}/dead-leader`,
  what: `holdfast, three servers, ${KILLS} leaders killed`,
  measured: {
    'least ms': Math.min(...outages),
    'median ms': median(outages),
    'most ms': Math.max(...outages),
    failures,
    'leases lost': lost,
  },
  goal: 'no lease lost',
  met: lost === 0,
});

async function outage(resource: string): Promise<number> {
  const clients = await Promise.all([open(), open()]);
  const kept = await Promise.all(
    clients.map((locks, n) => locks.mutex(`${resource}:kept:${n}`).acquire()),
  );
  grants.length = 0;
  over = false;
  const passing = clients.map((locks) => pass(locks, resource));
  await sleep(BEFORE_MS);
  const killedAt = await deed('killLeader');
  await sleep(AFTER_MS);
  over = true;
  const end = now();
  await Promise.all(passing);
  lost += kept.filter((lease) => !lease.held).length;
  await Promise.all(kept.map((lease) => lease.release()));
  await Promise.all(clients.map((locks) => locks.close()));
  const last = grants.findLast((at) => at < end) ?? 0;
  if (end - last > 1e9) throw new Error('No lock was granted any more.');
  const gaps = grants.map((at, n) => (at < killedAt ? 0 : at - (grants[n - 1] ?? at)));
  return Math.max(...gaps) / 1e6;
}

async function pass(locks: Locks, resource: string): Promise<void> {
  const lock = locks.mutex(resource, { fair: true });
  while (!over) {
    try {
      const lease = await lock.acquire();
      grants.push(now());
      await sleep(HOLD_MS);
      await lease.release();
    } catch {
      failures++;
      await sleep(PAUSE_MS);
    }
  }
}

function open(): Promise<Locks> {
  return connect(contest.threeUrl, { ttl: TTL_MS });
}

function now(): number {
  return Number(process.hrtime.bigint());
}
