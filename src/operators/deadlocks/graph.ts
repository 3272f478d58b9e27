/**
 * Which waits can never end because of each other.
 *
 * Invariant: a wait is stuck if the permits of stuck holds and its own exceed its limit; a hold is
 * stuck if a wait of the task that has it is. So a wait for a mutex is stuck by its one holder, a
 * wait for a semaphore only if the permits that may still come free are too few, and a writer by
 * any one reader. The limit is the caller's own, which no other can raise. The stuck waits are the
 * largest set for which that holds; a knot are those of them that reach each other, and it counts
 * only if they are stuck by holds of their own, and not by another knot, which has to end first.
 * What would break it: to count a hold twice, or a claim that is before a wait and no hold, for it
 * may leave by itself.
 */
import type { PublishedWait } from '../../store-calls/waiting.ts';

/** The waits that wait for each other, this one among them; undefined if it may end. */
export function knotOf<W extends PublishedWait>(
  waits: Iterable<W>,
  id: string,
): readonly W[] | undefined {
  const all = stuck([...waits]);
  const own = all.find((wait) => wait.id === id);
  if (!own) return undefined;
  const knot = reached(all, own).filter((other) => reached(all, other).includes(own));
  if (!knot.includes(own) || stuck(knot).length < knot.length) return undefined;
  return inOrder(knot, own);
}

/** The youngest of those that reject; of equals, the one with the greatest id. */
export function victimOf<W extends PublishedWait>(knot: readonly W[]): W | undefined {
  const rejecting = knot.filter(({ onDeadlock }) => onDeadlock === 'reject');
  return rejecting.reduce<W | undefined>((most, wait) => {
    if (!most || wait.holder.since > most.holder.since) return wait;
    return wait.holder.since === most.holder.since && wait.id > most.id ? wait : most;
  }, undefined);
}

/** Takes out what may end until nothing else may. */
function stuck<W extends PublishedWait>(waits: readonly W[]): readonly W[] {
  const taken = takenBy(waits);
  const left = waits.filter(({ resource, permits, limit }) => {
    const held = taken.get(resource)?.values() ?? [];
    return [...held].reduce((sum, each) => sum + each, permits) > limit;
  });
  return left.length < waits.length ? stuck(left) : waits;
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

function reached<W extends PublishedWait>(all: readonly W[], from: W): readonly W[] {
  const found = new Set<W>();
  for (let next = [from]; next.length > 0; ) {
    const blocking = all.filter((other) => next.some((wait) => blocks(other, wait)));
    next = blocking.filter((other) => !found.has(other));
    for (const other of next) found.add(other);
  }
  return [...found];
}

function blocks({ holds }: PublishedWait, wait: PublishedWait): boolean {
  return holds.some(({ resource }) => resource === wait.resource);
}

/** Each behind one that waits for it, as far as the knot is a ring. */
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
