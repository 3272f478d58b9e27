import type { StoreError } from '../contract/errors.ts';
import type { ClaimStatus } from '../contract/store.ts';
import type { Caller, Sender } from '../store-calls/batcher.ts';
import type { StoreCalls } from '../store-calls/store-calls.ts';
import type { LiveClaim } from './live-claim.ts';

/** Sends a heartbeat now; resolves with the failure if the store does not confirm the claim. */
export function confirm(calls: StoreCalls, live: LiveClaim): Promise<StoreError | undefined> {
  return ask(live, calls.renew);
}

/**
 * Turns a held write claim into a read claim. It counts as a reader from the moment the request
 * leaves, for the store may have admitted others; so it may be repeated after a failure.
 * @throws StoreError, UnsupportedError
 */
export async function downgrade(calls: StoreCalls, live: LiveClaim): Promise<void> {
  const sender = calls.downgrade;
  live.claim = { ...live.claim, kind: 'read', permits: 1 };
  const error = await ask(live, sender);
  if (error) throw error;
}

function ask(live: LiveClaim, sender: Sender<ClaimStatus>): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    const settle: Caller<ClaimStatus>['settle'] = (status, error, sentAt) => {
      live.receive(status, error, sentAt);
      resolve(error ?? (status?.state === 'error' ? status.error : undefined));
    };
    sender.send(live.claim, { settle });
  });
}
