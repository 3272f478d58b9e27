/** @verrou/core, with its defaults, or tuned for contention, on whatever its driver connects to. */
import { Verrou } from '@verrou/core';
import type { StoreFactory } from '@verrou/core/types';
import { type Connected, TTL_MS } from '../measuring/subject.ts';

/**
 * Between two tries when tuned. With 1 ms a hand-off in one process takes a third to a half of the
 * time, and an acquisition up to three times as many commands; across processes it is no faster.
 */
export const DELAY_MS = 5;

export function verrouOn(
  connected: StoreFactory['driver'],
  tuned: boolean,
  close: () => Promise<unknown>,
): Connected {
  const locks = new Verrou({ default: 'one', stores: { one: { driver: connected } } });
  const options = tuned ? { retry: { delay: DELAY_MS } } : {};
  return {
    task: (resource) => {
      const lock = locks.createLock(`verrou:${resource}`, TTL_MS);
      return async () => {
        if (!(await lock.acquire(options))) throw new Error('Verrou gave up.');
        return () => lock.release();
      };
    },
    close,
  };
}
