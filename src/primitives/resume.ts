import { isLockError } from '../base/errors.ts';
import { checkOptions, noWork } from '../base/options.ts';
import { ACQUISITION, type AcquireOptions } from '../core/acquire-options.ts';
import type { Engine } from '../core/engine.ts';
import { LeaseLostError } from '../core/errors.ts';
import { idOf, readText } from '../core/hand-over.ts';
import type { Lease } from '../core/lease.ts';
import type { Spec } from '../core/services.ts';
import { lineageOf } from '../store-calls/replies.ts';
import { Mutex, Semaphore } from './kinds.ts';
import { LOCK, type LockOptions, specOf } from './lock-options.ts';

/** Options of `locks.resume`: those of the lock and of the acquisition, for the new holder. */
export type ResumeOptions = Pick<LockOptions, 'ttl' | 'minHold' | 'maxHold' | 'heartbeat'> &
  Pick<AcquireOptions, 'wait' | 'signal' | 'label'>;

const RESUME = {
  ttl: LOCK.ttl,
  minHold: LOCK.minHold,
  maxHold: LOCK.maxHold,
  heartbeat: LOCK.heartbeat,
  ...ACQUISITION,
};

/** The lease that was handed over with this text; the work of `locks.resume`. */
export function resume(engine: Engine, text: string, options: ResumeOptions): Promise<Lease> {
  const read = checkOptions<ResumeOptions, typeof RESUME>(noWork(options), RESUME, 'resume');
  const { wait, signal, label, ...terms } = read;
  const { resource, kind, permits, limit, lineage, nth } = readText(text);
  const of = { ...terms, kind, limit, fair: true, reentrant: false };
  const resumes = { from: idOf(text), nth };
  const spec: Spec = { ...specOf(engine, resource, of), resumes };
  const some = kind === 'permits';
  const lock = some ? new Semaphore(engine, spec) : new Mutex(engine, spec);
  const taking = lock.acquire({ wait, signal, label, permits: some ? permits : undefined });
  return taking.catch((error: unknown) => {
    if (!isLockError(error, 'LEASE_LOST')) throw error;
    if ((error as LeaseLostError).reason !== 'expired') throw error;
    const foreign = lineage !== lineageOf(engine.services.calls.store);
    const detail = foreign ? 'the store is another, or has lost its data' : 'it was not resumed';
    throw new LeaseLostError(resource, 'expired', { detail });
  });
}
