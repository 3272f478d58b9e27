/** What is known of a knot, beyond who is in it. */
import { createHash } from 'node:crypto';
import { quote } from '../../base/errors.ts';
import { MAX_PERMITS, type Queue } from '../../contract/store.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { PublishedWait } from '../../store-calls/waiting.ts';
import { knotOf, stuckOf } from './graph.ts';
import { hasNotes, notesAround, type WaitNote, waitOf } from './notes.ts';

export function keyOf(knot: readonly PublishedWait[]): string {
  const ids = knot.map(({ id }) => id).sort();
  return createHash('sha256').update(ids.join()).digest('base64url').slice(0, 22);
}

/** All in it have found it: it was a deadlock. */
export function isConfirmed(knot: readonly WaitNote[]): boolean {
  const key = keyOf(knot);
  return knot.every((note) => note.knot === key);
}

/**
 * The confirmed deadlock that keeps this lock from becoming free; empty if none is known, or the
 * store does not reply. For people who look; needs no detection in this process.
 */
export async function deadlockAround(
  locks: Locks,
  { resource, limit = MAX_PERMITS }: Pick<Queue, 'resource' | 'limit'>,
): Promise<readonly PublishedWait[]> {
  const engine = engineOf(locks);
  if (!hasNotes(engine.services.calls.store)) return [];
  return knotBefore(await notesAround(engine, [resource]), { resource, limit }).map(waitOf);
}

/** The confirmed knot that would keep a wait for one permit, or to write, from ever ending. */
export function knotBefore(
  notes: readonly WaitNote[],
  { resource, limit }: { readonly resource: string; readonly limit: number },
): readonly WaitNote[] {
  const permits = limit === MAX_PERMITS ? limit : 1;
  const asking: PublishedWait = {
    ...{ id: '', resource, kind: 'permits', permits, limit, onDeadlock: 'event' },
    ...{ holder: { host: '', pid: 0, since: 0 }, holds: [] },
  };
  if (!stuckOf<PublishedWait>([...notes, asking]).includes(asking)) return [];
  const waits = stuckOf(notes);
  const knots = waits.map(({ id }) => knotOf(waits, id) ?? []);
  return knots.find((knot) => knot.length > 0 && isConfirmed(knot)) ?? [];
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
