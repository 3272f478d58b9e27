/**
 * The leader of three servers is killed while two clients pass a lock to each other: the longest
 * time without a grant, until the others have a new leader and the clients are with it. A lock that
 * is held all the time has to stay held.
 */
import type { Locks } from 'holdfast';
import { connect } from 'holdfast/connect';
import { deed, now, sleep } from '../measuring/processes.ts';
import { median, report } from '../measuring/result.ts';
import { type Place, TTL_MS } from '../measuring/subject.ts';

const KILLS = 3;
const HOLD_MS = 1;
const BEFORE_MS = 1_000;
/** Until all is as before; and by then it has to be. */
const AFTER_MS = 8_000;
const PAUSE_MS = 5;

/** By `now`. */
const grants: number[] = [];
let failures = 0;
let lost = 0;
let over = false;

/** At the last of the places, which are three servers. */
export async function measure(places: readonly Place[]): Promise<void> {
  const url = places.at(-1)?.url ?? '';
  const outages: number[] = [];
  for (let n = 0; n < KILLS; n++) {
    outages.push(await outage(url, `dead-leader:${n}`));
    await deed('mend');
  }
  report({
    what: `holdfast, three servers, ${KILLS} leaders killed`,
    measured: {
      'least ms': Math.min(...outages),
      'median ms': median(outages),
      'most ms': Math.max(...outages),
      failures,
      'leases lost': lost,
    },
    ...{ goal: 'no lease lost', met: lost === 0 },
  });
}

async function outage(url: string, resource: string): Promise<number> {
  const clients = await Promise.all([0, 1].map(() => connect(url, { ttl: TTL_MS })));
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
