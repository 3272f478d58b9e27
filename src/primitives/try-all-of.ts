/**
 * Several locks in one step of the store: all or none.
 *
 * Invariant: at no moment does the caller hold some of them. Each lock makes its claim as for any
 * other try, but the claims leave together with the last of them, as one request, which the store
 * carries out for all or for none. So there is no order to keep, and no other caller is refused for
 * the sake of a try that fails. If one does not come, because its caller has given up, the others
 * are refused unsent. If the request has an unknown outcome, each lock releases its own claim, as
 * after any try; if a grant comes too late to be used, the other leases are released.
 * A failure reaches each claim as its own status: a batch that failed as a whole would be halved.
 * What would break it: a request for some of them, or a store that decides part by part.
 */
import { UsageError } from '../base/errors.ts';
import { toStoreError, UnsupportedError } from '../contract/errors.ts';
import { REFUSED } from '../contract/gone.ts';
import { type Claim, type ClaimStatus, MAX_BATCH } from '../contract/store.ts';
import { type AcquireOptions, NO_OPTIONS } from '../core/acquire-options.ts';
import type { Caller } from '../store-calls/batcher.ts';
import { checkStatus, partOf } from '../store-calls/replies.ts';
import type { StoreCalls } from '../store-calls/store-calls.ts';
import type { Lock } from './lock.ts';
import { impatient, type TryOptions } from './lockable.ts';
import { MultiLease, type MultiLock, multiLockOf } from './multi-lock.ts';

const SLOTS =
  'These locks are in several slots of the cluster, so the store cannot take them in one step.' +
  " Give their names one hash tag, such as '{order:7}', or use allOf().";

/**
 * Sends one claim on each of these resources, together; after `end` no more are to come.
 * @throws UnsupportedError unless the store can take them in one step.
 */
function together(calls: StoreCalls, resources: readonly string[]) {
  const parts = new Set(resources.map((resource) => partOf(calls.store, resource)));
  const claimAll = calls.verb('claimAll');
  if (parts.size > 1) throw new UnsupportedError('claimAll', SLOTS);
  const verb = async (claims: readonly Claim[]): Promise<readonly ClaimStatus[]> => {
    if (claims.length < resources.length) return claims.map(() => REFUSED);
    try {
      return await claimAll(claims);
    } catch (error) {
      return claims.map(() => ({ state: 'error', error: toStoreError(error) }));
    }
  };
  const sender = calls.sender(verb, checkStatus, {});
  const waiting: (() => void)[] = [];
  let over = false;
  const end = (): void => {
    over = true;
    for (const send of waiting.splice(0)) send();
  };
  const send = (claim: Claim, caller: Caller<ClaimStatus>): void => {
    waiting.push(() => sender.send(claim, caller));
    if (over || waiting.length === resources.length) end();
  };
  return { send, end };
}

/**
 * Takes all of these locks if all are free now, else resolves to null: in one step of the store,
 * so nothing is held meanwhile, unlike in a try of `allOf`. At most 100 locks, of the same `Locks`.
 * If a process dies, etcd and ZooKeeper keep all of them for the longest of their TTLs.
 *
 * @example
 * import { tryAllOf } from 'holdfast';
 *
 * const leases = await tryAllOf([from, to].map((id) => locks.mutex(`account:${id}`)));
 * if (leases) await transfer(from, to).finally(leases.release);
 *
 * @throws UsageError synchronously; as rejections UnsupportedError if the store cannot, or not for
 *   these, MismatchError, LeaseLostError, `signal.reason`, StoreError and ClosedError.
 */
export function tryAllOf(
  locks: readonly Lock[],
  options: TryOptions = NO_OPTIONS,
): Promise<MultiLease | null> {
  const all = multiLockOf('tryAllOf()', locks);
  if (all.parts.length > MAX_BATCH) {
    throw new UsageError(`tryAllOf() takes at most ${MAX_BATCH} locks, not ${all.parts.length}.`);
  }
  return take(all, impatient(all.read(options)));
}

async function take({ engine, parts }: MultiLock, options: AcquireOptions) {
  const resources = parts.map(({ resource }) => resource);
  const entering = together(engine.services.calls, resources);
  const taking = parts.map((part) => part.take({ ...options, entering }, false));
  // One that is over before it has sent its claim ends the try of the others.
  for (const each of taking) each.then(entering.end, entering.end);
  const taken = await Promise.allSettled(taking);
  const leases = taken.flatMap((each) => (each.status === 'fulfilled' ? (each.value ?? []) : []));
  if (leases.length === parts.length) return new MultiLease(leases);
  await Promise.all(leases.map((lease) => lease.release()));
  for (const each of taken) if (each.status === 'rejected') throw each.reason;
  return null;
}
