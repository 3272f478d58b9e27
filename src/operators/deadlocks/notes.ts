/**
 * What the store has about waits. A task that waits and holds locks has a note about each hold, in
 * the label of a claim: so a note ends with its process, and needs nothing of a store but claims.
 *
 * Notes stand in a queue for each resource that is held, under a reserved name, and as permits
 * without an end, so that all are admitted. The name is made from a hash, because a name with a
 * prefix may have no room for more.
 *
 * Invariant: a reader that has read the queues of some holds knows what each wait last said about
 * them. A task that has something new to say makes all its new notes before it releases an old one,
 * so each queue that is read has a note of the last turn, or of the one before. Both have the sum
 * of what is held, and holds only become fewer, and smaller: if the sums are equal, so are the
 * holds, and what the older note says about its hold is true of the last turn. If they differ, only
 * notes of the last turn count. A hold that is left out delays a verdict, but causes none.
 * What breaks it: a sum that can grow, or a hold in a note that was not held at its turn.
 */
import { createHash } from 'node:crypto';
import { withJson } from '../../base/show.ts';
import type { Member, Store } from '../../contract/store.ts';
import type { Engine } from '../../core/engine.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { PublishedWait, WaitingHold } from '../../store-calls/waiting.ts';
import { inTurns, namesFrom, RESERVED } from '../list.ts';

export interface WaitNote extends PublishedWait {
  /** Counts what the wait has published. */
  readonly turn: number;
  /** The permits of all holds that this turn has notes about. */
  readonly sum: number;
  /** The knot that the task has found; empty if it has found none. */
  readonly knot: string;
  /** It has emitted `deadlock` for it. */
  readonly told: boolean;
}

/** Most queues of notes in one look: a longer chain gets no verdict. */
const MOST = 256;

/** Notes need a queue, tokens and several holders at a time. */
export function hasNotes({ traits }: Store): boolean {
  return traits.queue && traits.tokens !== undefined && Boolean(traits.permits);
}

export function noteName(resource: string): string {
  return RESERVED + createHash('sha256').update(resource).digest('base64url').slice(0, 32);
}

/** The label of a claim that publishes this wait, about one of its holds. */
export function labelOf({ holder, holds: _, ...note }: WaitNote, hold: WaitingHold): string {
  const { since, label } = holder;
  return JSON.stringify({ ...note, since, label, hold: { ...hold, token: String(hold.token) } });
}

/** The notes about holds of these resources, about holds of what those wait for, and so on. */
export async function notesAround(
  { services: { calls } }: Engine,
  resources: Iterable<string>,
): Promise<readonly WaitNote[]> {
  const all: WaitNote[] = [];
  const read = new Set<string>();
  for (let next = [...new Set(resources)]; next.length > 0 && read.size < MOST; ) {
    for (const resource of next) read.add(resource);
    // A queue that cannot be read has no notes: then there is no verdict.
    const queues = await Promise.all(
      next.map((resource) => calls.inspect(noteName(resource)).catch(() => undefined)),
    );
    for (const queue of queues) all.push(...(queue?.holders.flatMap(noteIn) ?? []));
    const wanted = new Set(all.map(({ resource }) => resource));
    next = [...wanted].filter((resource) => !read.has(resource)).slice(0, MOST - read.size);
  }
  return joined(all);
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
  return allNotes(engineOf(locks)).then((notes) => notes.map(waitOf));
}

/** All that the store has about waits, the longest wait first. */
export async function allNotes(engine: Engine): Promise<readonly WaitNote[]> {
  const names: string[] = [];
  for await (const name of namesFrom(engine, RESERVED)) names.push(name);
  const queues = await inTurns(names, (name) => engine.inspect(name));
  const all = queues.flatMap(({ holders }) => holders.flatMap(noteIn));
  return [...joined(all)].sort((a, b) => a.holder.since - b.holder.since);
}

/** Without what only detection reads. */
export function waitOf(note: WaitNote): PublishedWait {
  const { turn: _, sum: __, knot: ___, told: ____, ...wait } = note;
  return withJson(wait);
}

function noteIn({ holder }: Member): readonly WaitNote[] {
  try {
    const { hold, label, since, ...note } = JSON.parse(holder.label ?? '');
    const holds = [{ ...hold, token: BigInt(hold.token) }];
    const { host, pid } = holder;
    const own = { host, pid, since, ...(typeof label === 'string' && { label }) };
    const found: WaitNote = { ...note, holder: own, holds };
    return isSound(found) ? [found] : [];
  } catch {
    return [];
  }
}

function isSound({ holds, holder, ...note }: WaitNote): boolean {
  const texts = [note.id, note.resource, note.knot, ...holds.map((hold) => hold.resource)];
  const { permits, limit, turn, sum } = note;
  const numbers = [permits, limit, holder.since, turn, sum, ...holds.map((hold) => hold.permits)];
  return texts.every((text) => typeof text === 'string') && numbers.every(Number.isFinite);
}

/** What each wait has said last, about all of its holds that were read. */
export function joined(all: Iterable<WaitNote>): readonly WaitNote[] {
  const notes = new Map<string, WaitNote>();
  for (const note of all) {
    const known = notes.get(note.id) ?? note;
    notes.set(note.id, note.turn < known.turn ? join(known, note) : join(note, known));
  }
  return [...notes.values()];
}

function join(last: WaitNote, older: WaitNote): WaitNote {
  if (older.sum !== last.sum) return last;
  const more = older.holds.filter((hold) => !last.holds.some((other) => isSame(hold, other)));
  return { ...last, holds: [...last.holds, ...more] };
}

export function isSame(a: WaitingHold, b: WaitingHold): boolean {
  return a.resource === b.resource && a.token === b.token;
}
