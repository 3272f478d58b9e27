/**
 * Which claims of a batch a statement may take. The claims of a lock that it leaves out become
 * steps after it, so that all take effect in their order.
 */
import type { Claim } from '../../contract/store.ts';
import { grouped } from '../batch.ts';

/** The first claim of each lock. */
export function firsts(claims: readonly Claim[]): Claim[] {
  return byLock(claims).flatMap(([first]) => first ?? []);
}

/** The first claims of each lock, if they are alike, and all want the whole limit and may wait. */
export function runs(claims: readonly Claim[], maxWaiters: number): Claim[] {
  return byLock(claims).flatMap((those) => {
    const first = those[0] as Claim;
    const end = those.findIndex(({ id, kind, permits, limit, queue }, n) => {
      const again = those.findIndex((each) => each.id === id) < n;
      const same = kind === first.kind && permits === first.permits && limit === first.limit;
      const follows = same && permits >= limit && queue && first.queue;
      return n > 0 && (again || n > maxWaiters || !follows);
    });
    return end < 0 ? those : those.slice(0, end);
  });
}

function byLock(claims: readonly Claim[]): Claim[][] {
  return [...grouped(claims, ({ resource }) => resource).values()];
}
