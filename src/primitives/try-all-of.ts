/**
 * Several locks in one step of the store: all or none.
 *
 * Invariant: at no moment does the caller hold some of them. The claims of all parts leave as one
 * request (`Together`), which the store carries out for all or for none. So there is no order to
 * keep, and no other caller is refused for the sake of a try that fails.
 * If the request has an unknown outcome, each part releases its own claim, as any try does. If a
 * grant comes too late to be used, the other leases are released.
 * What would break it: a store that decides part by part.
 */
import { UsageError } from '../base/errors.ts';
import { MAX_BATCH } from '../contract/store.ts';
import { type AcquireOptions, NO_OPTIONS } from '../core/acquire-options.ts';
import { Together } from '../store-calls/together.ts';
import type { Lock } from './lock.ts';
import { impatient, type TryOptions } from './lockable.ts';
import { MultiLease, type MultiLock, multiLockOf } from './multi-lock.ts';

/**
 * Takes all of these locks if all are free now, else resolves to null: in one step of the store,
 * so nothing is held meanwhile, unlike in a try of `allOf`. At most 100 locks, of the same `Locks`.
 * If a process dies, ZooKeeper and etcd keep all of them for the longest of their TTLs.
 *
 * @example
 * import { tryAllOf } from 'holdfast';
 *
 * const leases = await tryAllOf([from, to].map((id) => locks.mutex(`account:${id}`)));
 * if (leases) await transfer(from, to).finally(leases.release);
 *
 * @throws UsageError synchronously; as rejections UnsupportedError if the store cannot, or not for
 *   these, MismatchError, `signal.reason`, StoreError and ClosedError.
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

async function take(
  { engine, parts }: MultiLock,
  options: AcquireOptions,
): Promise<MultiLease | null> {
  const resources = parts.map(({ resource }) => resource);
  const together = new Together(engine.services.calls, resources);
  const taking = parts.map((part) => part.take({ ...options, together }, false));
  // One that is over before it has sent its claim ends the try of the others.
  const end = (): void => together.end();
  for (const each of taking) each.then(end, end);
  const taken = await Promise.allSettled(taking);
  const leases = taken.flatMap((each) => (each.status === 'fulfilled' ? (each.value ?? []) : []));
  if (leases.length === parts.length) return new MultiLease(leases);
  await Promise.all(leases.map((lease) => lease.release()));
  for (const each of taken) if (each.status === 'rejected') throw each.reason;
  return null;
}
