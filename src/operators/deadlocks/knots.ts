/** What is known of a knot, beyond who is in it. */
import { createHash } from 'node:crypto';
import { quote } from '../../base/errors.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { PublishedWait } from '../../store-calls/waiting.ts';
import { knotOf, stuckOf } from './graph.ts';
import { hasNotes, type Note, notesAround, waitOf } from './notes.ts';

export function keyOf(knot: readonly PublishedWait[]): string {
  const ids = knot.map(({ id }) => id).sort();
  return createHash('sha256').update(ids.join()).digest('base64url').slice(0, 22);
}

/** All in it have found it: it was a deadlock. */
export function isConfirmed(knot: readonly Note[]): boolean {
  const key = keyOf(knot);
  return knot.every((note) => note.knot === key);
}

/**
 * The confirmed deadlock because of which this lock does not come free; empty if none is known, or
 * the store does not reply. For people who look; needs no detection in this process.
 */
export async function deadlockAround(
  locks: Locks,
  name: string,
): Promise<readonly PublishedWait[]> {
  const engine = engineOf(locks);
  if (!hasNotes(engine.services.calls.store)) return [];
  const stuck = stuckOf(await notesAround(engine, [engine.resource(name)]));
  const knots = stuck.map(({ id }) => knotOf(stuck, id) ?? []);
  const found = knots.find((knot) => knot.length > 0 && isConfirmed(knot)) ?? [];
  return found.map(waitOf);
}

/** For messages. */
export function detailOf(knot: readonly PublishedWait[]): string {
  const waits = knot.map(({ resource, holds, holder: { label, host, pid } }) => {
    const task = `${label ? `${label} on ` : ''}${host}, pid ${pid}`;
    const held = holds.map((hold) => quote(hold.resource)).join(' and ');
    return `${task}, holds ${held} and waits for ${quote(resource)}`;
  });
  return waits.join('; ');
}
