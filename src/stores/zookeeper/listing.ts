/** Queues as the server tells them, now. */

import { type Details, detailsIn, type Note, noteIn } from './data.ts';
import { failedWith } from './errors.ts';
import type { KeptSession } from './kept-session.ts';
import { type Place, placeIn } from './nodes.ts';
import { QueueView } from './queue.ts';
import type { NodeChildren } from './requests.ts';
import type { Watcher } from './watches.ts';

/** From here on, numbers of permits are not trusted to tell who came first. */
const UNSURE = 2 ** 30;
/** So many reads are on their way at a time. */
const AT_ONCE = 100;

interface Listing {
  readonly watch?: Watcher | undefined;
  /** An earlier view, whose names need not be read again. */
  readonly known?: QueueView | undefined;
}

/**
 * Who stands in the queue at this path. It is empty if it is not there, and nothing is watched.
 * @throws StoreError
 */
export async function listQueue(
  kept: KeptSession,
  path: string,
  { watch, known }: Listing = {},
): Promise<QueueView> {
  let listed: NodeChildren;
  try {
    listed = await kept.session.getChildren(path, { ...kept.within, watch });
  } catch (error) {
    if (failedWith(error, 'NONODE')) return new QueueView([]);
    throw error;
  }
  const places = listed.children.flatMap((name) => known?.named(name) ?? placeIn(name) ?? []);
  const { dataLength: length, version, mzxid, pzxid } = listed.stat;
  const note = { length, version, latest: mzxid === pzxid };
  const sure = places.every(({ kind, sequence }) => {
    return kind !== 'permits' || (sequence >= 0 && sequence < UNSURE);
  });
  if (sure) return new QueueView(places.sort(bySequence), note);
  // Slower, but it never overflows.
  const found = await detailed(kept, path, places);
  found.sort(([, a], [, b]) => (a.number < b.number ? -1 : 1));
  return new QueueView(
    found.map(([place]) => place),
    note,
  );
}

/** Who stands in a writer's place as a reader, too, has it first as a writer. */
function bySequence(a: Place, b: Place): number {
  return a.sequence - b.sequence || (a.kind === 'write' ? -1 : 1);
}

/** The places with what their nodes tell, but for those that have gone meanwhile. */
export async function detailed(
  kept: KeptSession,
  path: string,
  places: readonly Place[],
): Promise<[Place, Details][]> {
  const found: [Place, Details][] = [];
  for (let i = 0; i < places.length; i += AT_ONCE) {
    const some = places.slice(i, i + AT_ONCE);
    const all = await Promise.all(some.map(({ name }) => readDetails(kept, `${path}/${name}`)));
    for (const [n, details] of all.entries()) {
      if (details) found.push([some[n] as Place, details]);
    }
  }
  return found;
}

/** What a node tells; undefined if it is not there. */
export async function readDetails(
  kept: KeptSession,
  path: string,
  watch?: Watcher,
): Promise<Details | undefined> {
  try {
    return detailsIn(await kept.session.getData(path, { ...kept.within, watch }));
  } catch (error) {
    if (failedWith(error, 'NONODE')) return undefined;
    throw error;
  }
}

/** How the last hold of a queue ended that told. */
export async function readNote(kept: KeptSession, path: string): Promise<Note | undefined> {
  try {
    return noteIn((await kept.session.getData(path, kept.within)).data);
  } catch (error) {
    if (failedWith(error, 'NONODE')) return undefined;
    throw error;
  }
}
