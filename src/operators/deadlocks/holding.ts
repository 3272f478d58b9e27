import { AsyncLocalStorage } from 'node:async_hooks';
import { UsageError } from '../../base/errors.ts';
import { perProcess } from '../../base/per-process.ts';
import type { Store } from '../../contract/store.ts';
import type { Lease } from '../../core/lease.ts';
import type { MultiLease } from '../../primitives/multi-lock.ts';
import { type Frame, innermost } from '../../primitives/reentrancy.ts';

interface Holding {
  readonly leases: readonly Lease[];
  /** This frame and those around it no longer count. */
  readonly around: Frame | undefined;
}

function context(): AsyncLocalStorage<Holding> {
  return perProcess('holding', () => new AsyncLocalStorage<Holding>());
}

/**
 * Runs the work, and tells `detectDeadlocks` which leases its waits hold up, in place of those of
 * the `run` around it: leases of `acquire`, which it does not know otherwise, or none, for waits
 * that the work around does not wait for.
 *
 * @example
 * import { holding } from 'holdfast';
 *
 * await using report = await locks.mutex('report').acquire();
 * await holding([report], () => locks.mutex('printer').run(({ signal }) => buildReport(signal)));
 *
 * @throws UsageError
 */
export function holding<T>(leases: readonly (Lease | MultiLease)[], work: () => T): T {
  const given: readonly (Lease | MultiLease)[] = Array.isArray(leases) ? leases : [undefined];
  const all = given.flatMap((each) => (each as Partial<MultiLease>)?.leases ?? (each as Lease));
  if (!all.every((lease) => lease?.live) || typeof work !== 'function') {
    throw new UsageError('holding() takes a list of leases, and a function.');
  }
  return context().run({ leases: all, around: innermost() }, work);
}

/** The leases of this store that the running code holds, as far as that is known. */
export function heldAround(store: Store): readonly Lease[] {
  const { leases = [], around } = context().getStore() ?? {};
  const found = new Set<Lease>(leases);
  for (let frame = innermost(); frame && frame !== around; frame = frame.parent) {
    if (frame.open) found.add(frame.lease);
  }
  return [...found].filter((lease) => lease.live.services.calls.store === store);
}
