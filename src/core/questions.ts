import { type StoreError, UnsupportedError } from '../contract/errors.ts';
import type { ClaimStatus } from '../contract/store.ts';
import type { Asker, Lane } from '../store-calls/batcher.ts';
import type { Core } from './engine.ts';
import type { LiveClaim } from './live-claim.ts';

/** Asks the store now; tells the failure if it does not confirm the claim. */
export function confirm(core: Core, live: LiveClaim): Promise<StoreError | undefined> {
  return ask(live, core.heartbeat.laneOf(live));
}

/**
 * Turns a held write claim into a read claim. It counts as a reader from the moment the request
 * leaves, for the store may have let others in; so it may be repeated when it failed.
 * @throws StoreError, UnsupportedError
 */
export async function downgrade(core: Core, live: LiveClaim): Promise<void> {
  const { store } = core;
  const verb = store.downgrade?.bind(store);
  if (!verb) {
    throw new UnsupportedError('downgrade', `The ${store.name} store cannot downgrade.`);
  }
  live.claim = { ...live.claim, kind: 'read', permits: 1 };
  const lane = core.lane((claims) => Promise.all(claims.map((claim) => verb(claim))));
  const error = await ask(live, lane);
  if (error) throw error;
}

function ask(live: LiveClaim, lane: Lane<ClaimStatus>): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    const settle: Asker<ClaimStatus>['settle'] = (status, error, sentAt) => {
      live.receive(status, error, sentAt);
      resolve(error ?? (status?.state === 'error' ? status.error : undefined));
    };
    lane.send(live.claim, { settle });
  });
}
