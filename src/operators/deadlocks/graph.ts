/**
 * Which waits can never end because of each other.
 *
 * Invariant: a wait is stuck if the permits of stuck holds and its own exceed its limit; a hold is
 * stuck if its task has a stuck wait. So a wait for a mutex is stuck by its one holder, a wait for
 * a semaphore only if the permits that may still become free are too few, and a writer by any one
 * reader. The limit is the caller's own, which no other can raise. The stuck waits are the largest
 * set for which that holds; a knot is those of them that reach each other, and it counts only if
 * they are stuck by holds of their own, and not by another knot, which has to end first. What would
 * break it: counting a hold twice, or a claim before a wait that is not a hold, because it may
 * leave by itself.
 */
import type { PublishedWait } from '../../store-calls/waiting.ts';

/** The waits that can never end if no other does; takes out what may end until nothing else may. */
export function stuckOf<W extends PublishedWait>(waits: Iterable<W>): readonly W[] {
  let left = [...waits];
  for (;;) {
    const taken = takenBy(left);
    const stuck = left.filter(({ resource, permits, limit }) => {
      const held = taken.get(resource)?.values() ?? [];
      return [...held].reduce((sum, each) => sum + each, permits) > limit;
    });
    if (stuck.length === left.length) return left;
    left = stuck;
  }
}

/** Those of the stuck waits that wait for each other, with this one first; undefined without it. */
export function knotOf<W extends PublishedWait>(
  stuck: readonly W[],
  id: string,
): readonly W[] | undefined {
  const own = stuck.find((wait) => wait.id === id);
  if (!own) return undefined;
  const behind = reached(stuck, own, (from, to) => blocks(from, to));
  const knot = [...reached(stuck, own, (from, to) => blocks(to, from))].filter((wait) =>
    behind.has(wait),
  );
  if (!knot.includes(own) || stuckOf(knot).length < knot.length) return undefined;
  return inOrder(knot, own);
}

/** The youngest of those that reject; of equals, the one with the greatest id. */
export function victimOf<W extends PublishedWait>(knot: readonly W[]): W | undefined {
  const rejecting = knot.filter(({ onDeadlock }) => onDeadlock === 'reject');
  return rejecting.sort((a, b) => b.holder.since - a.holder.since || (a.id < b.id ? 1 : -1))[0];
}

/** Permits by resource and token: several waits may hold up one hold. */
function takenBy(waits: readonly PublishedWait[]): Map<string, Map<bigint, number>> {
  const taken = new Map<string, Map<bigint, number>>();
  for (const { resource, token, permits } of waits.flatMap(({ holds }) => holds)) {
    const holds = taken.get(resource) ?? new Map<bigint, number>();
    taken.set(resource, holds.set(token, permits));
  }
  return taken;
}

/** All that a series of such steps leads to. */
function reached<W>(all: readonly W[], own: W, leads: (from: W, to: W) => boolean): Set<W> {
  const found = new Set<W>();
  for (let next = [own]; next.length > 0; ) {
    const from = next;
    next = all.filter((to) => !found.has(to) && from.some((each) => leads(each, to)));
    for (const to of next) found.add(to);
  }
  return found;
}

/** Holds what the wait is for. */
function blocks({ holds }: PublishedWait, wait: PublishedWait): boolean {
  return holds.some(({ resource }) => resource === wait.resource);
}

/** The waits, each behind one that waits for it, as far as the knot is a ring. */
function inOrder<W extends PublishedWait>(knot: readonly W[], own: W): readonly W[] {
  const left = new Set(knot);
  const order: W[] = [];
  for (let at: W | undefined = own; at; ) {
    left.delete(at);
    order.push(at);
    const from: W = at;
    at = [...left].find((other) => blocks(other, from)) ?? left.values().next().value;
  }
  return order;
}
