/**
 * A process of the demo. It takes the lock, sells the last lamp when it is told to, and holds on.
 * Like much code it does not look at its lease before it writes.
 */
import { once } from 'node:events';
import { isLockError } from '../../base/errors.ts';
import type { Lease } from '../../core/lease.ts';
import { objectFence } from '../../fences/index.ts';
import { createLocks } from '../../locks.ts';
import { objectStore } from '../../stores/objects/index.ts';
import { printJson } from '../output.ts';
import { objectsIn } from './objects.ts';

export const TTL_MS = 1_000;

/** What an actor says, a line each. */
export interface Said {
  readonly token?: string;
  /** Whether its lease was held, and its write went through. */
  readonly held?: boolean;
  readonly sold?: boolean;
}

const stock = objectFence({ initial: { lamps: 1 } });

export async function act(name: string): Promise<number> {
  const locks = createLocks(objectStore(objectsIn('locks/')), { ttl: TTL_MS, label: name });
  const lease = await locks.mutex('lamp').acquire();
  await printJson({ token: String(lease.token) });
  await once(process.stdin, 'data');
  const { held } = lease;
  await printJson({ held, sold: await sell(lease) });
  // Its end is the end of the demo, which kills it.
  await once(process.stdin, 'close');
  return 0;
}

/** False if the fence refuses it. */
async function sell(lease: Lease): Promise<boolean> {
  try {
    const { value, write } = await stock.enter(objectsIn('shop/'), lease);
    await write({ lamps: value.lamps - 1 });
    return true;
  } catch (error) {
    if (isLockError(error, 'STALE_TOKEN')) return false;
    throw error;
  }
}
