/** Takes a lock again and again, counts in a file under it, and tells of every hold. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createLocks, type Lease, type Lock, type Locks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { storeWith } from '../../../stores/sqlite/children/store-with.ts';
import { NEXT_LAYOUTS } from '../../../stores/sqlite/next-layout.ts';
import type { HoldRecord } from '../../histories/holds.ts';
import { given, hear, machineMs, sleep, tell } from './talk.ts';

export interface ContenderOptions {
  readonly file: string;
  readonly kind: 'mutex' | 'rw' | 'semaphore';
  readonly rounds: number;
  readonly ttl: number;
  readonly limit: number;
  readonly fair: boolean;
  /** It is of a later version of the library, whose layout of the file is the next one. */
  readonly later?: boolean;
}

export interface Told {
  readonly type: 'hold';
  readonly record: HoldRecord;
  /** The guarded number was raised. */
  readonly counted: boolean;
}

const { file, kind, rounds, ttl, limit, fair, later } = given<ContenderOptions>();
const store = later ? storeWith(file, { layouts: NEXT_LAYOUTS }) : sqliteStore(file);
const locks = createLocks(store, { ttl, label: `contender ${process.pid}` });
const counter = `${file}.counter`;
await tell({ type: 'ready' });
await hear();
for (let i = 0; i < rounds; i++) await round(i);
await tell({ type: 'done' });
await locks.close();
process.disconnect();

async function round(i: number): Promise<void> {
  const { lock, permits, writes } = chosen(locks, i);
  const requestedAt = machineMs();
  const lease = await lock.acquire({ permits });
  const grantedAt = machineMs();
  const counted = await work(writes);
  const endedAt = machineMs();
  const record = recordOf(lease, { requestedAt, grantedAt, endedAt });
  const told: Told = { type: 'hold', record, counted };
  const release = lease.release();
  await tell(told);
  await release;
}

function chosen(from: Locks, i: number): { lock: Lock; permits: number; writes: boolean } {
  const { read, write } = from.rwLock('rw', { fair });
  if (kind === 'mutex') return { lock: from.mutex('mutex', { fair }), permits: 1, writes: true };
  if (kind === 'rw') return { lock: i % 3 ? read : write, permits: 1, writes: i % 3 === 0 };
  const lock = from.semaphore('permits', { limit });
  return { lock, permits: 1 + (i % 3), writes: false };
}

/** Raises the number in an unsafe way: only a lock keeps others from doing so at the same time. */
async function work(writes: boolean): Promise<boolean> {
  const before = Number(readFileSync(counter, 'utf8'));
  await sleep(Math.random() * 2);
  if (!writes) {
    const after = Number(readFileSync(counter, 'utf8'));
    if (kind === 'rw' && before !== after) throw new Error('A writer wrote among readers.');
    return false;
  }
  const next = `${counter}.${process.pid}`;
  writeFileSync(next, String(before + 1));
  renameSync(next, counter);
  return true;
}

function recordOf(
  lease: Lease,
  times: Pick<HoldRecord, 'requestedAt' | 'grantedAt' | 'endedAt'>,
): HoldRecord {
  const { resource, permits, token } = lease;
  const whole = 2 ** 30;
  const shape = {
    mutex: { permits: 1, limit: 1 },
    permits: { permits, limit },
    read: { permits: 1, limit: whole },
    write: { permits: whole, limit: whole },
  } as const;
  return { resource, token, process: process.pid, ...shape[lease.kind], ...times };
}
