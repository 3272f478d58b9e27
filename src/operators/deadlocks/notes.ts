/**
 * What the store has about waits. A task that waits and holds locks has a note about each hold, in
 * the label of a claim: so a note ends with its process, and needs nothing of a store but claims.
 *
 * Notes stand in a queue for each resource that is held, under a reserved name, and as permits
 * without an end, so that all are admitted. The name is made from a hash, because a name with a
 * prefix may have no room for more. A task that has something new to say makes a new claim before
 * it releases the old one; of the notes of one wait only those with its last `turn` count.
 */
import { createHash } from 'node:crypto';
import type { Member } from '../../contract/store.ts';
import type { Engine } from '../../core/engine.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { PublishedWait, WaitingHold } from '../../store-calls/waiting.ts';
import { namesFrom } from '../list.ts';
import { RESERVED } from '../reserved.ts';

/** What a note says. */
export interface Note extends PublishedWait {
  /** Counts what the wait has published. */
  readonly turn: number;
  /** The knot that the task has found; empty if it has found none. */
  readonly knot: string;
  /** It has emitted `deadlock` for it. */
  readonly told: boolean;
}

/** Most queues of notes in one look: a longer chain gets no verdict. */
const MOST = 256;

export function noteName(resource: string): string {
  return RESERVED + createHash('sha256').update(resource).digest('base64url').slice(0, 32);
}

/** The label of a claim that publishes this wait, about one of its holds. */
export function labelOf({ holder, holds: _, ...note }: Note, hold: WaitingHold): string {
  const { since, label } = holder;
  return JSON.stringify({ ...note, since, label, hold: { ...hold, token: String(hold.token) } });
}

/** The notes about holds of these resources, about holds of what those wait for, and so on. */
export async function notesAround(
  engine: Engine,
  resources: Iterable<string>,
): Promise<ReadonlyMap<string, Note>> {
  const notes = new Map<string, Note>();
  const read = new Set<string>();
  for (let next = [...new Set(resources)]; next.length > 0 && read.size < MOST; ) {
    for (const resource of next) read.add(resource);
    const found = await Promise.all(next.map((resource) => notesIn(engine, noteName(resource))));
    for (const note of found.flat()) put(notes, note);
    const wanted = new Set([...notes.values()].map(({ resource }) => resource));
    next = [...wanted].filter((resource) => !read.has(resource)).slice(0, MOST - read.size);
  }
  return notes;
}

/**
 * The waits of tasks that hold other locks, of all programs on the store that use
 * `detectDeadlocks`; a wait is among them from when it has lasted for `after`, by default a second.
 * Each is an edge from each of its `holds` to the `resource` that it waits for.
 *
 * @example
 * import { waitsOf } from 'holdfast';
 *
 * for (const { resource, holds, holder } of await waitsOf(locks)) {
 *   console.log(holder.label, holder.pid, holds.map((hold) => hold.resource), '->', resource);
 * }
 *
 * @throws UsageError; as rejections ClosedError, StoreError, and UnsupportedError if the store
 *   cannot list names.
 */
export function waitsOf(locks: Locks): Promise<readonly PublishedWait[]> {
  return allWaits(engineOf(locks));
}

async function allWaits(engine: Engine): Promise<readonly PublishedWait[]> {
  const notes = new Map<string, Note>();
  for await (const name of namesFrom(engine, RESERVED)) {
    const { holders } = await engine.inspect(name);
    for (const note of holders.flatMap(noteIn)) put(notes, note);
  }
  const waits = [...notes.values()].map(({ turn: _, knot: __, told: ___, ...wait }) => wait);
  return waits.sort((a, b) => a.holder.since - b.holder.since);
}

/** None if the store fails: then there is no verdict. */
async function notesIn({ services }: Engine, name: string): Promise<readonly Note[]> {
  const queue = await services.looks.inspect(name).catch(() => undefined);
  return queue?.holders.flatMap(noteIn) ?? [];
}

function noteIn({ holder }: Member): readonly Note[] {
  try {
    const { hold, label, since, ...note } = JSON.parse(holder.label ?? '');
    const holds = [{ ...hold, token: BigInt(hold.token) }];
    const { host, pid } = holder;
    const own = typeof label === 'string' ? { host, pid, since, label } : { host, pid, since };
    const found: Note = { ...note, holder: own, holds };
    return isSound(found) ? [found] : [];
  } catch {
    return [];
  }
}

function isSound({ id, resource, permits, limit, holder, holds, turn, knot }: Note): boolean {
  const texts = [id, resource, knot, ...holds.map((hold) => hold.resource)];
  const numbers = [permits, limit, holder.since, turn, ...holds.map((hold) => hold.permits)];
  return (
    texts.every((text) => typeof text === 'string') &&
    numbers.every((number) => Number.isFinite(number))
  );
}

/** What it has published last, about all of its holds. */
function put(notes: Map<string, Note>, note: Note): void {
  const known = notes.get(note.id);
  if (!known || note.turn > known.turn) notes.set(note.id, note);
  else if (note.turn === known.turn) {
    const same = (a: WaitingHold, b: WaitingHold) =>
      a.resource === b.resource && a.token === b.token;
    const more = note.holds.filter((hold) => !known.holds.some((other) => same(hold, other)));
    notes.set(note.id, { ...known, holds: [...known.holds, ...more] });
  }
}
