/** Takes all but one of some locks in one step, again and again, and tells of every hold. */
import { createLocks, isLockError, type MultiLease, tryAllOf } from 'holdfast';
import { openStore } from 'holdfast/connect';
import type { HoldRecord } from '../../histories/holds.ts';
import { given, hear, machineMs, type OnStore, sleep, tell } from './talk.ts';

export interface BookerOptions extends OnStore {
  readonly names: readonly string[];
  /** How often it is to hold them. */
  readonly rounds: number;
}

export interface Booked {
  readonly type: 'booked';
  /** Of one hold, for each lock. */
  readonly records: readonly HoldRecord[];
}

const { store, names, rounds, ttl } = given<BookerOptions>();
const locks = createLocks(await openStore(store), { ttl });
await tell({ type: 'ready' });
await hear();
for (let booked = 0; booked < rounds; ) if (await book()) booked++;
await tell({ type: 'done' });
await locks.close();
process.disconnect();

/** False: they were not free. */
async function book(): Promise<boolean> {
  const without = Math.floor(Math.random() * names.length);
  const some = names.filter((_, i) => i !== without);
  if (Math.random() < 0.5) some.reverse();
  const requestedAt = machineMs();
  const lease = await tried(some);
  const grantedAt = machineMs();
  if (!lease?.held) {
    await lease?.release();
    await sleep(Math.random() * 5);
    return false;
  }
  await tell({ type: 'holds' });
  const endedAt = await believe(lease, grantedAt);
  const records = lease.leases.map(({ resource, token }) => ({
    ...{ resource, token, permits: 1, limit: 1, process: process.pid },
    ...{ requestedAt, grantedAt, endedAt },
  }));
  const told = tell({ type: 'booked', records } satisfies Booked);
  await lease.release();
  await told;
  return true;
}

/** An error of the store is as good as a refusal, and so is a grant that came too late. */
async function tried(some: readonly string[]): Promise<MultiLease | null> {
  try {
    return await tryAllOf(some.map((name) => locks.mutex(name)));
  } catch (error) {
    if (isLockError(error, 'STORE') || isLockError(error, 'LEASE_LOST')) return null;
    throw error;
  }
}

/** Holds for a while; returns when it last saw that all are held. */
async function believe(lease: MultiLease, from: number): Promise<number> {
  const until = from + Math.random() * 20;
  for (let seenAt = from; ; await sleep(1)) {
    const at = machineMs();
    if (!lease.held) return seenAt;
    seenAt = at;
    if (at >= until) return seenAt;
  }
}
