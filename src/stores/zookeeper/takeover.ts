/**
 * How the hold before one's own ended, if work may be undone.
 *
 * Invariant: `released` is reported only for a hold known to have ended with a note. A claim that
 * saw one hold alone before it, and then finds it gone and one note more, need not read the note:
 * only an evictor, whose note is long, and that hold itself, which takes back an older note and
 * leaves none, could write meanwhile. Any other claim reads the note, which names the hold.
 * What would break it: notes by claims that do not hold.
 *
 * The note may also show whose turn it is, with no list. If it is by the claim right before, which
 * held alone, all before that one had gone. The queue's node counts departures: if there were as
 * many as claims before this one, nothing else has gone, so this claim is there, and the first. An
 * eviction, a downgrade or a move to another session is one departure more; then the list decides.
 * What would break it: a server that counts the children that it created twice.
 */
import type { Takeover } from '../../contract/store.ts';
import { QueueView } from '../consensus/queue-view.ts';
import type { SeenPlace, ZookeeperClaim } from './own-claim.ts';
import {
  factsOf,
  isEvicted,
  type NodeNote,
  type NodePlace,
  type NodeView,
  type NoteFacts,
  noteIn,
} from './places.ts';
import { readNote } from './reading.ts';

/** A queue, and the note at its path if that has been read. */
export interface ReadQueue {
  readonly view: NodeView;
  readonly note?: NodeNote | undefined;
}

/** After a release, or beside other holders, no work is undone. */
export function leavesWork({ id, seen }: ZookeeperClaim, view: NodeView): boolean {
  return seen !== undefined || (view.find(id) <= 0 && isEvicted(view));
}

export async function takeoverOf(
  own: ZookeeperClaim,
  path: string,
  { view, note }: ReadQueue,
): Promise<Takeover | undefined> {
  const { seen, before } = own;
  if (seen && before && notedByOnly(seen, { now: view, name: before.name })) {
    return { reason: 'released', token: before.number };
  }
  const known = note ?? (await readNote(own.kept, path));
  const ending = known && { reason: known.reason, token: known.token };
  if (ending?.reason === 'evicted') {
    // Reports an eviction once; twice if this fails.
    const { session, within } = own.kept;
    session.setData(path, Buffer.alloc(0), within).catch(() => {});
  }
  if (!seen) return ending?.reason === 'evicted' ? ending : undefined;
  const there = new Set(view.places.map(({ sequence }) => sequence));
  const earlier = seen.view.places.slice(0, seen.index);
  const ended = earlier.filter(({ sequence }) => !there.has(sequence));
  const last = earlier.at(-1);
  // A writer that has become a reader has ended nothing, nor has one whose turn had not come.
  const left = last && !last.foreign && ended.includes(last) && before?.name === last.name;
  const waited = left && holdsAlone(last) && ended.length < earlier.length;
  const silent = left && !waited && known?.sequence !== last.sequence;
  const noted = known && ended.some(({ sequence }) => sequence === known.sequence);
  // An earlier claim's note says nothing of one that may have held alone afterwards.
  if (noted && (view.note?.latest || !(silent && holdsAlone(last)))) return ending;
  return silent ? { reason: 'expired', token: before.number } : undefined;
}

/**
 * The queue of a claim whose turn it is, if the queue's node alone shows that. A child that is no
 * claim counts as a waiter.
 */
export async function readSuccession(
  { kept, seen }: ZookeeperClaim,
  path: string,
): Promise<ReadQueue | undefined> {
  const [own, before] = [seen?.view.places[seen.index], seen?.view.places[seen.index - 1]];
  if (!seen || !own || !before || !isExclusive(own) || !isExclusive(before)) return undefined;
  const { data, stat } = await kept.session.getData(path, kept.within);
  const [facts, note] = [factsOf(stat), noteIn(data)];
  if (note?.reason !== 'released' || note.sequence !== before.sequence) return undefined;
  if (!onlyThoseBefore(seen, facts)) return undefined;
  return { view: new QueueView([own], { total: stat.numChildren, note: facts }), note };
}

function isExclusive({ kind, foreign }: NodePlace): boolean {
  return !foreign && (kind === 'mutex' || kind === 'write');
}

/** As many have left the same queue as stood before this claim. */
export function onlyThoseBefore({ view, index }: SeenPlace, now: NoteFacts): boolean {
  if (view.note?.madeBy !== now.madeBy) return false;
  return ((now.departures - view.note.departures) | 0) === 2 * index;
}

/** `name` is of the claim whose token is known. */
function notedByOnly(
  { view, index }: SeenPlace,
  { now, name }: { readonly now: NodeView; readonly name: string },
): boolean {
  const [only] = view.places;
  if (index !== 1 || only?.name !== name) return false;
  const gone = !now.places.some(({ sequence }) => sequence === only.sequence);
  const [was, is] = [view.note?.version ?? 0, now.note?.version ?? 0];
  const written = is === was + 1 && now.note !== undefined && now.note.length > 0;
  return gone && written && !isEvicted(now);
}

function holdsAlone({ permits, limit }: NodePlace): boolean {
  return permits >= limit;
}
