import { isLockError } from '../base/errors.ts';
import { checkOptions, noWork } from '../base/options.ts';
import { ACQUISITION, type AcquireOptions } from '../core/acquire-options.ts';
import type { Engine } from '../core/engine.ts';
import { LeaseLostError } from '../core/errors.ts';
import { readText, takerOf } from '../core/hand-over.ts';
import type { Lease } from '../core/lease.ts';
import { lineageOf } from '../store-calls/replies.ts';
import { Mutex } from './kinds.ts';
import { LOCK, type LockOptions, specOf } from './lock-options.ts';

/** Options of `locks.resume`: those of the lock and of the acquisition, for the new holder. */
export type ResumeOptions = Pick<LockOptions, 'ttl' | 'minHold' | 'maxHold' | 'heartbeat'> &
  Pick<AcquireOptions, 'wait' | 'signal' | 'label'>;

const { ttl, minHold, maxHold, heartbeat } = LOCK;
const RESUME = { ttl, minHold, maxHold, heartbeat, ...ACQUISITION };

/** The lease that was handed over with this text; the work of `locks.resume`. */
export function resume(engine: Engine, text: string, options: ResumeOptions): Promise<Lease> {
  const read = checkOptions<ResumeOptions, typeof RESUME>(noWork(options), RESUME, 'resume');
  const { wait, signal, label, ...terms } = read;
  const { resource, kind, permits, limit, lineage, nth } = readText(text);
  const spec = specOf(engine, resource, { ...terms, kind, limit, fair: true, reentrant: false });
  const { calls } = engine.services;
  const take = async (): Promise<Lease> => {
    const taking = { ...spec, permits, entering: takerOf(calls, text), nth };
    const some = kind === 'permits' ? permits : undefined;
    return new Mutex(engine, taking).acquire({ wait, signal, label, permits: some });
  };
  return take().catch((error: unknown) => {
    const reason = isLockError(error, 'LEASE_LOST') && (error as LeaseLostError).reason;
    if (reason !== 'expired') throw error;
    const foreign = lineage !== lineageOf(calls.store);
    const late = 'it was not resumed in time, or long ago';
    const detail = foreign ? 'the store is another, or has lost its data' : late;
    throw new LeaseLostError(resource, 'expired', { detail });
  });
}
