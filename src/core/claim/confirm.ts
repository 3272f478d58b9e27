import type { StoreError } from '../../contract/errors.ts';
import type { LiveClaim } from './live-claim.ts';

/** Sends a heartbeat now; resolves with the failure if the store does not confirm the claim. */
export function confirm(live: LiveClaim): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    live.services.calls.renew.send(live.claim, {
      settle(status, error, sentAt) {
        live.receive(status, error, sentAt);
        resolve(error ?? (status?.state === 'error' ? status.error : undefined));
      },
    });
  });
}
