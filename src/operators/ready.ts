import type { Locks } from '../locks.ts';

/**
 * Resolves once the store has replied: one round trip, which connects, inspects a queue, and takes
 * no lock. `createLocks` and `connect` send nothing, so call it where a program should not start,
 * or not count as ready, without its store.
 *
 * @example
 * import { ready } from 'holdfast';
 *
 * await ready(locks);
 *
 * @throws ClosedError, and StoreError if the store does not reply in time or refuses.
 */
export async function ready(locks: Locks): Promise<void> {
  await locks.inspect('holdfast ready');
}
