/** Holds a semaphore with a `minHold` for a moment, again and again, as often as it is let. */
import { createLocks, isLockError, systemClock } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { given, machineMs, type OnStore, tell } from './talk.ts';

export interface StarterOptions extends OnStore {
  readonly limit: number;
  readonly minHold: number;
}

export interface Begun {
  /** When the hold began, on the clock that all processes of the machine share. */
  readonly at: number;
}

const { store, ttl, limit, minHold } = given<StarterOptions>();
const clock = systemClock();
// Read before the process is ever stopped: the same moment on both clocks.
const ahead = machineMs() - clock.now();
const locks = createLocks(await openStore(store), { ttl });
const semaphore = locks.semaphore('rate', { limit, minHold });
for (;;) {
  try {
    await semaphore.run(({ since }) => tell({ type: 'begun', at: since + ahead }));
  } catch (error) {
    // Its lease was lost while the process was stopped, or the store had no time for it.
    if (!isLockError(error)) throw error;
  }
}
