/**
 * What somebody knows of a queue who hears which of its nodes come and go.
 *
 * Invariant: the places are those of the queue after the changes that were applied, in order. A
 * change that is known already, because a list was newer than its event, changes nothing. A node
 * that went before it could be read is counted in its place, so that nobody is admitted past it,
 * but it is not shown; when it goes, nobody knows who has held.
 * Servers tell of each node by itself, although one step may change several. Their events follow
 * each other, so what comes next tells whether there is more to a step. A node may make way for
 * another: a reader's in a writer's place, or its own again, in another session. And all nodes of a
 * session go when it ends. So where a holder has gone and another node of its session goes next,
 * nobody of that session is told to hold. A hold that was given up is noted in the same step, and
 * that is heard in between.
 * How often children came or went is counted as the server counts it, so that a later list tells
 * whether more has happened than its difference shows.
 */
import type { Details } from './data.ts';
import { asReader, type Place, placeIn } from './nodes.ts';
import { QueueView } from './queue.ts';
import type { Stat } from './requests.ts';

/** Its details, if its node could be read. */
export type Known = readonly [Place, Details | undefined];

/** By the names of nodes, also those that are no claims. */
export type Nodes = Map<string, Known | undefined>;

/** A change of a child, or of the queue's own node, whose name is empty. */
export interface Change {
  /** `changed` is only the queue's own node: somebody has noted how a hold ended. */
  readonly type: 'created' | 'deleted' | 'changed';
  readonly name: string;
}

/** A change, with what was asked when it was heard of. */
export interface Heard extends Change {
  /** Of the node that came. */
  readonly details: Details | undefined;
  /** Of the queue's own node, if that came. */
  readonly stat: Stat | undefined;
}

/**
 * What a change makes of a queue: the same, another one, another one before which somebody not
 * known has held, or one that may be a part of a step, with holders who may never have held.
 */
export type Effect = 'same' | 'changed' | 'missed' | 'unsure';

export class QueuePicture {
  #nodes: Nodes = new Map();
  /** Which node the queue is, and how often its children have changed. */
  #mark: { readonly czxid: bigint; changes: number } | undefined;
  /** A session of which a holder has gone, and more are going. */
  #ending: bigint | undefined;

  /** By number, which never overflows, unless one is not known. */
  get places(): Known[] {
    const all = [...this.#nodes.values()].flatMap((known) => (known ? [known] : []));
    const sure = all.every(([, details]) => details);
    return all.sort(([a, one], [b, other]) => {
      if (!sure) return a.sequence - b.sequence;
      return (one?.number ?? 0n) < (other?.number ?? 0n) ? -1 : 1;
    });
  }

  /** Whether what is heard next may be of the same step: somebody who held goes, or one with it. */
  mayGoOn({ type, name }: Change): boolean {
    if (type !== 'deleted') return false;
    const session = this.#nodes.get(name)?.[1]?.session;
    const ends = this.#ending !== undefined && session === this.#ending;
    return ends || this.#holders.some(([place]) => place.name === name);
  }

  /** What need not be read again of a node, if the queue is still the one that is known. */
  detailsOf(name: string, stat: Stat | undefined): Details | undefined {
    return stat?.czxid === this.#mark?.czxid ? this.#nodes.get(name)?.[1] : undefined;
  }

  /** As it was listed; answers whether somebody may have held and gone without being seen. */
  replace(nodes: Nodes, stat: Stat | undefined): boolean {
    const [mark, before] = [this.#mark, this.#nodes];
    this.#nodes = nodes;
    this.#mark = stat && { czxid: stat.czxid, changes: stat.cversion };
    this.#ending = undefined;
    const same = stat !== undefined && stat.czxid === mark?.czxid;
    const unread = [...before].some(([name, known]) => known && !known[1] && !nodes.has(name));
    return !same || stat.cversion - mark.changes > 1 || unread;
  }

  /** `next` is what was heard after it, if anything was; it has to be known where it `mayGoOn`. */
  apply(change: Heard, next: Heard | undefined): Effect {
    const { type, name, stat } = change;
    const created = type === 'created';
    if (name === '') {
      if (type !== 'changed' && created !== (this.#mark !== undefined)) {
        this.#mark = stat && { czxid: stat.czxid, changes: 0 };
      }
      return 'same';
    }
    if (created === this.#nodes.has(name)) return 'same';
    if (!created) return this.#remove(change, next);
    this.#put(change);
    return placeIn(name) ? 'changed' : 'same';
  }

  get #holders(): Known[] {
    const { places } = this;
    return places.slice(0, new QueueView(places.map(([place]) => place)).admitted);
  }

  #put({ name, details }: Heard): void {
    const place = placeIn(name);
    this.#nodes.set(name, place && [place, details]);
    if (this.#mark) this.#mark.changes++;
  }

  #remove(change: Heard, next: Heard | undefined): Effect {
    const { name } = change;
    const known = this.#nodes.get(name);
    const session = known?.[1]?.session;
    const goesOn = this.mayGoOn(change);
    this.#nodes.delete(name);
    if (this.#mark) this.#mark.changes++;
    if (next?.type === 'created' && next.name === asReader(name)) this.#put(next);
    const more = next?.type === 'deleted' && this.#nodes.get(next.name)?.[1]?.session === session;
    this.#ending = more && goesOn ? session : undefined;
    if (!known) return 'same';
    if (!known[1]) return 'missed';
    return this.#holders.some(([, its]) => its && its.session === this.#ending)
      ? 'unsure'
      : 'changed';
  }
}
