/**
 * Which claims of a batch a statement may take. The claims of a lock that it leaves out become
 * steps after it, so that all take effect in their order.
 */
import type { Claim } from '../../contract/store.ts';

/** The first claim of each lock. */
export function firsts(claims: readonly Claim[]): Claim[] {
  if (claims.length === 1) return [...claims];
  const names = new Set<string>();
  return claims.filter(({ resource }) => {
    const first = !names.has(resource);
    names.add(resource);
    return first;
  });
}

/** The first claims of each lock, if they are alike, and all want the whole limit and may wait. */
export function runs(claims: readonly Claim[], maxWaiters: number): Claim[] {
  if (claims.length === 1) return [...claims];
  const begun = new Map<
    string,
    { readonly ids: Set<string>; readonly first: Claim; open: boolean }
  >();
  return claims.filter((claim) => {
    const { resource, id } = claim;
    const run = begun.get(resource);
    if (!run) {
      begun.set(resource, { ids: new Set([id]), first: claim, open: true });
      return true;
    }
    run.open &&= follows(claim, run.first) && run.ids.size <= maxWaiters && !run.ids.has(id);
    run.ids.add(id);
    return run.open;
  });
}

function follows({ kind, permits, limit, queue }: Claim, first: Claim): boolean {
  const same = kind === first.kind && permits === first.permits && limit === first.limit;
  return same && permits >= limit && queue && first.queue;
}
