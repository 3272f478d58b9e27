/** Asks for a mutex as the newest of several, and tells what becomes of it. */
import { createLocks, isLockError, type LeaseLostError } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { given, hear, type OnStore, tell } from './talk.ts';

/** It got no lease. */
export type Missed = { readonly type: 'missed'; readonly why: string };

const { store, ttl } = given<OnStore>();
const locks = createLocks(await openStore(store), { ttl });
const taking = locks.mutex('mutex').acquire({ ifBusy: 'replace-waiting' });
const lease = await taking.catch((error: unknown) => {
  if (!isLockError(error, 'LEASE_LOST')) throw error;
  return (error as LeaseLostError).reason;
});
if (typeof lease === 'string') await tell({ type: 'missed', why: lease } satisfies Missed);
else {
  await tell({ type: 'held', token: lease.token });
  await hear();
  await lease.release();
}
await locks.close();
process.disconnect();
