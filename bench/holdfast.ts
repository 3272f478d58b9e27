/** Ours, with default options but for the TTL, which all contenders share. */
import { createLocks, type Store } from 'holdfast';
import { type Connected, TTL_MS } from './contender.ts';

/** `end` closes the client, which is not the store's own. */
export function locksOf(store: Store, fair: boolean, end: () => Promise<unknown>): Connected {
  const locks = createLocks(store, { ttl: TTL_MS });
  return {
    task: (resource) => {
      const lock = locks.mutex(resource, { fair });
      return async () => {
        const lease = await lock.acquire();
        return () => lease.release();
      };
    },
    close: async () => {
      await locks.close();
      await end();
    },
  };
}
