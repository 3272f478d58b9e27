import { UsageError } from '../base/errors.ts';
import { type StoreError, UnsupportedError } from '../contract/errors.ts';
import type { Claim, ClaimStatus } from '../contract/store.ts';
import type { Lease } from '../core/lease.ts';
import { checkStatus } from '../store-calls/replies.ts';

/**
 * Turns a write lock into a read lock without releasing it: other readers are admitted, and the
 * token stays. There is no way back, because two readers that tried would wait for each other. May
 * be repeated after a failure.
 *
 * @example
 * import { downgrade } from 'holdfast';
 *
 * await using lease = await locks.rwLock('config').write.acquire();
 * await writeConfig('colour = blue');
 * await downgrade(lease); // from here on, others may read it, too
 *
 * @throws UsageError synchronously; as rejections UnsupportedError for other kinds of locks or if
 *   the store cannot, LeaseLostError and StoreError.
 */
export function downgrade(lease: Lease): Promise<void> {
  if (lease?.live) return becomeReader(lease);
  throw new UsageError('downgrade takes the lease of a write lock.');
}

async function becomeReader(lease: Lease): Promise<void> {
  const { live } = lease;
  if (lease.kind !== 'write' && lease.kind !== 'read') {
    throw new UnsupportedError('downgrade', 'Only a write lock can be downgraded.');
  }
  lease.assertHeld();
  const { calls, clock } = live.services;
  const verb = calls.verb('downgrade');
  // A reader from the moment the request leaves, because the store may have admitted others.
  const claim: Claim = { ...live.claim, kind: 'read', permits: 1 };
  live.claim = claim;
  const sentAt = clock.now();
  const status = await calls
    .ask(() => verb(claim), checkStatus, claim)
    .catch((error: StoreError): ClaimStatus => ({ state: 'error', error }));
  live.receive(status, undefined, sentAt);
  lease.assertHeld();
  if (status.state === 'error') throw status.error;
}
