/**
 * Keep-alives of leases.
 *
 * The leader alone keeps leases alive, without asking others. A leader that stood still does so
 * even after another was elected, under which the lease ends earlier. So a reply counts only once
 * a later read, agreed by a majority, was answered in the same term.
 * The term in a reply is that of the last entry that its server has applied, and a leader that
 * serves a read has applied one of its own: so the server of both was the leader before and after
 * the lease was kept alive, and there was no other in between. What would break it: a read that any
 * server answers by itself.
 *
 * Keeping a lease alive twice does no harm, and a dead one stays dead: so a keep-alive without a
 * reply is sent once more, while it has time. The life in a reply counts from the first request,
 * so it is never overestimated.
 */
import type { StoreError } from '../../contract/errors.ts';
import { type Calls, DEADLINE_MS, type RpcMethod } from './calls.ts';
import { idRequest, type LeaseTimes, readLease } from './wire/messages.ts';

/** The API has a stream for many; each stream here has one request. */
const KEEP_ALIVE: RpcMethod<{ id: bigint }, Required<LeaseTimes>> = {
  path: '/etcdserverpb.Lease/LeaseKeepAlive',
  request: idRequest,
  read: readLease,
};

/** @param readTerm reads it with the agreement of a majority. */
export function keepAlives(
  calls: Calls,
  readTerm: (end: number) => Promise<bigint>,
): (lease: bigint) => Promise<bigint> {
  return async (id) => {
    const end = performance.now() + DEADLINE_MS;
    const ask = () => calls.call(KEEP_ALIVE, { id }, end);
    for (;;) {
      const { ttl, header } = await ask().catch((error: unknown) => {
        const late = performance.now() >= end;
        if (late || (error as StoreError).outcome !== 'unknown') throw error;
        return ask().catch(() => Promise.reject(error));
      });
      // Death needs no confirmation: no claim relies on it.
      if (ttl <= 0n) return 0n;
      if (header.term === (await readTerm(end))) return ttl;
    }
  };
}
