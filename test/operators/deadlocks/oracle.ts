import type { PublishedWait } from 'holdfast';

/**
 * Those that end in no future, by trying all ways in which waits may end: one may end when the
 * permits of holds whose tasks still wait leave room for it.
 */
export function neverEnding(waits: readonly PublishedWait[]): PublishedWait[] {
  const ended = new Set<PublishedWait>();
  const seen = new Set<number>([0]);
  for (const state of seen) {
    const left = waits.filter((_, i) => !(state & (1 << i)));
    waits.forEach((each, i) => {
      if (state & (1 << i)) return;
      const inTheWay = new Map<bigint, number>();
      for (const { resource, token, permits } of left.flatMap(({ holds }) => holds)) {
        if (resource === each.resource) inTheWay.set(token, permits);
      }
      const taken = [...inTheWay.values()].reduce((sum, permits) => sum + permits, 0);
      if (taken + each.permits > each.limit) return;
      ended.add(each);
      seen.add(state | (1 << i));
    });
  }
  return waits.filter((each) => !ended.has(each));
}

export function idsOf(waits: readonly PublishedWait[] | undefined): string[] | undefined {
  return waits?.map(({ id }) => id).sort();
}
