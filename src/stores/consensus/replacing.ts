/**
 * Newest wins (newest.ts) where no step changes several claims of a queue.
 *
 * A claim enters as any other. Then it reads the queue, ends each claim that it replaces in a step
 * of its own, and reads again, until it finds none. Invariant: such a step does nothing unless the
 * claim is as it was read and those that keep a waiter waiting are still there, so no claim is
 * ended as a waiter that has been admitted meanwhile. Of two newcomers, each ends only what is
 * before it in the order, so the last one stays, whichever is quicker. A newcomer that dies in
 * between has replaced some of them, or none; one that is repeated ends the rest.
 * What would break it: ending by the number alone, or a newcomer that counts on its first read.
 */
import { isReplaced } from '../../contract/newest.ts';
import type { Claim } from '../../contract/store.ts';
import type { QueuePlace, QueueView } from './queue-view.ts';
import type { PlaceLife } from './terms.ts';

interface Replacing<P> {
  readonly claim: Claim;
  /** That of its place. */
  readonly id: string;
  readonly maxWaiters: number;
  /** Undefined: it has gone. */
  readonly lifeOf: (place: P) => PlaceLife | undefined;
}

/**
 * What it is to end, the latest first: the others are what keeps that one waiting. Nothing once it
 * is admitted, or where it has to leave itself.
 */
export function replacedIn<P extends QueuePlace>(
  view: QueueView<P>,
  { claim: { kind, ifBusy }, id, maxWaiters, lifeOf }: Replacing<P>,
): readonly P[] {
  const { places, admitted } = view;
  const index = view.find(id);
  if (!ifBusy || index < admitted || view.misfit(kind)) return [];
  const older = places.slice(0, index).filter((place, i) => {
    const life = lifeOf(place);
    return life !== undefined && isReplaced({ ...life, admitted: i < admitted }, ifBusy);
  });
  const leaving = older.filter((place) => places.indexOf(place) >= admitted).length;
  return index - admitted - leaving < maxWaiters ? older.reverse() : [];
}
