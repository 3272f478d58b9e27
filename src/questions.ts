import type { Core } from './core.ts';
import { type StoreError, toStoreError, UnsupportedError } from './errors.ts';
import type { LiveClaim } from './live-claim.ts';

/** Asks the store now; tells the failure if it does not confirm the claim. */
export function confirm(core: Core, live: LiveClaim): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    core.lanes.renew.send(live.claim, (status, error, sentAt) => {
      live.receive(status, error, sentAt);
      resolve(error ?? (status?.state === 'error' ? status.error : undefined));
    });
  });
}

/**
 * Turns a held write claim into a read claim. It counts as a reader from the moment the request
 * leaves, for the store may have let others in; so it may be repeated when it failed.
 * @throws StoreError, UnsupportedError
 */
export async function downgrade(core: Core, live: LiveClaim): Promise<void> {
  const { store, clock } = core;
  if (!store.downgrade) {
    throw new UnsupportedError('downgrade', `The ${store.name} store cannot downgrade.`);
  }
  live.claim = { ...live.claim, kind: 'read', permits: 1 };
  const sentAt = clock.now();
  const status = await store.downgrade(live.claim).catch((error) => {
    throw toStoreError(error);
  });
  if (status.state === 'error') throw status.error;
  live.receive(status, undefined, sentAt);
}
