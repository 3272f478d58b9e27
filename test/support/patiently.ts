import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, type Lease, type Lock } from 'holdfast';

/** A wait fails when the store has not answered for a TTL; a patient program waits again. */
export async function patiently(lock: Lock): Promise<Lease> {
  for (;;) {
    try {
      return await lock.acquire();
    } catch (error) {
      if (!isLockError(error, 'STORE')) throw error;
      await sleep(10);
    }
  }
}
