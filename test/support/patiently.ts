import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, type Lease, type Lock } from 'holdfast';

/** Until it is not the store that it fails of. */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLockError(error, 'STORE')) throw error;
      await sleep(10);
    }
  }
}

/** A wait fails when the store has not answered for a TTL; a patient program waits again. */
export function patiently(lock: Lock): Promise<Lease> {
  return again(() => lock.acquire());
}
