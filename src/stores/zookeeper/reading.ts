/** Queues, read from the server. */
import { Answer } from '../../base/answer.ts';
import { unlessMissing } from '../../clients/zookeeper/errors.ts';
import type { NodeWatcher } from '../../clients/zookeeper/watches.ts';
import { QueueView } from '../consensus/queue-view.ts';
import type { KeptSession } from './kept-session.ts';
import {
  type Details,
  detailsIn,
  factsOf,
  type NodeNote,
  type NodePlace,
  type NodeView,
  noteIn,
  placeIn,
} from './places.ts';

/** From here on, the numbers of permits no longer decide the order. */
const UNSURE = 2 ** 30;
/** Reads under way at a time. */
const AT_ONCE = 100;

interface Listing {
  readonly watch?: NodeWatcher | undefined;
  /** An earlier view, whose names need not be read again. */
  readonly known?: NodeView | undefined;
}

/** The claims in the queue at this path. A missing queue is empty, and not watched. */
export function listQueue(
  kept: KeptSession,
  path: string,
  { watch, known }: Listing = {},
): Answer<NodeView> {
  const asked = Answer.from(kept.session.getChildren(path, { ...kept.within, watch }));
  return asked.or(unlessMissing).chain<NodeView>((listed) => {
    if (!listed) return new QueueView([]);
    const parsed = known && new Map(known.places.map((place) => [place.name, place]));
    const [{ children, stat }, { recipe }] = [listed, kept];
    const places = children.flatMap((name) => parsed?.get(name) ?? placeIn(name, recipe) ?? []);
    const note = factsOf(stat);
    const sure = places.every(({ kind, sequence }) => {
      return kind !== 'permits' || (sequence >= 0 && sequence < UNSURE);
    });
    if (sure) return new QueueView(places.sort(bySequence), { note });
    // Slower, but it never overflows.
    return detailed(kept, path, places).then((found) => {
      found.sort(([, a], [, b]) => (a.number < b.number ? -1 : 1));
      const inOrder = found.map(([place]) => place);
      return new QueueView(inOrder, { note });
    });
  });
}

/** A claim that is writer and reader in one place comes first as the writer. */
function bySequence(a: NodePlace, b: NodePlace): number {
  return a.sequence - b.sequence || (a.kind === 'write' ? -1 : 1);
}

/** Places with the data of their nodes, without those that have gone. */
export async function detailed(
  kept: KeptSession,
  path: string,
  places: readonly NodePlace[],
): Promise<[NodePlace, Details][]> {
  const found: [NodePlace, Details][] = [];
  const asked = eachAsked(places, ({ name }) => readDetails(kept, `${path}/${name}`));
  for await (const [place, details] of asked) {
    if (details) found.push([place, details]);
  }
  return found;
}

/** Asks for all of them, some at a time. */
export async function* eachAsked<T, R>(
  items: readonly T[],
  ask: (item: T) => Promise<R>,
): AsyncGenerator<readonly [T, R], void, void> {
  for (let i = 0; i < items.length; i += AT_ONCE) {
    const some = items.slice(i, i + AT_ONCE);
    const answers = await Promise.all(some.map(ask));
    for (const [n, item] of some.entries()) yield [item, answers[n] as R];
  }
}

/** A node's data; undefined if it is not there. */
export async function readDetails(
  kept: KeptSession,
  path: string,
  watch?: NodeWatcher,
): Promise<Details | undefined> {
  const found = await kept.session.getData(path, { ...kept.within, watch }).catch(unlessMissing);
  return found && detailsIn(found);
}

/** The queue's note on how a hold ended. */
export async function readNote(kept: KeptSession, path: string): Promise<NodeNote | undefined> {
  const found = await kept.session.getData(path, kept.within).catch(unlessMissing);
  return found && noteIn(found.data);
}
