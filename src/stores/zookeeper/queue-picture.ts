/**
 * What somebody knows of a queue who hears which of its nodes come and go.
 *
 * Invariant: the places are those of the queue after the changes that were applied, in order. A
 * name never comes again in a queue, so a change that is known already, because a list or another
 * answer was newer than its event, changes nothing. A node that went before it could be read is
 * counted in its place, so that nobody is admitted past it, but it is not shown.
 * How often children came or went is counted as the server counts it, so that a later list tells
 * whether more has happened than its difference shows.
 */
import type { Details } from './data.ts';
import { asReader, type Place, placeIn } from './nodes.ts';
import type { Stat } from './requests.ts';

/** Its details, if its node could be read. */
export type Known = readonly [Place, Details | undefined];

/** By the names of nodes, also those that are no claims. */
export type Nodes = Map<string, Known | undefined>;

/** A change of a child, or of the queue's own node, whose name is empty. */
export interface Change {
  readonly type: 'created' | 'deleted';
  readonly name: string;
}

/** What was asked when a change was heard of. */
export interface Answers {
  /** Of the node that came, or of the reader that has come in a writer's place. */
  readonly details: Details | undefined;
  /** Of the queue's own node, if that came. */
  readonly stat: Stat | undefined;
  /** What is to be applied next. */
  readonly next: Change | undefined;
}

export class QueuePicture {
  #nodes: Nodes = new Map();
  /** Which node the queue is, and how often its children have changed. */
  #mark: { readonly czxid: bigint; changes: number } | undefined;

  /** By number, which never overflows, unless one is not known. */
  get places(): Known[] {
    const all = [...this.#nodes.values()].flatMap((known) => (known ? [known] : []));
    const sure = all.every(([, details]) => details);
    return all.sort(([a, one], [b, other]) => {
      if (!sure) return a.sequence - b.sequence;
      return (one?.number ?? 0n) < (other?.number ?? 0n) ? -1 : 1;
    });
  }

  /** What need not be read again of a node, if the queue is still the one that is known. */
  detailsOf(name: string, stat: Stat | undefined): Details | undefined {
    return stat?.czxid === this.#mark?.czxid ? this.#nodes.get(name)?.[1] : undefined;
  }

  /** As it was listed; answers whether somebody may have come and gone without being seen. */
  replace(nodes: Nodes, stat: Stat | undefined): boolean {
    const before = this.#mark;
    const same = stat !== undefined && stat.czxid === before?.czxid;
    this.#nodes = nodes;
    this.#mark = stat && { czxid: stat.czxid, changes: stat.cversion };
    const unread = [...nodes.values()].some((known) => known && !known[1]);
    return !same || stat.cversion - before.changes > 1 || unread;
  }

  /** What it makes of a change: nothing, another queue, or one in which somebody is not shown. */
  apply(change: Change, answers: Answers): 'same' | 'changed' | 'missed' {
    const { type, name } = change;
    const created = type === 'created';
    if (name === '') {
      const { stat } = answers;
      if (created !== (this.#mark !== undefined)) {
        this.#mark = stat && { czxid: stat.czxid, changes: 0 };
      }
      return 'same';
    }
    if (created === this.#nodes.has(name)) return 'same';
    const place = placeIn(name);
    if (created) this.#put(name, answers.details);
    else this.#remove(name, answers);
    if (!place) return 'same';
    const shown = created ? answers.details : this.#nodes.get(asReader(name))?.[1];
    return shown || !(created || this.#nodes.has(asReader(name))) ? 'changed' : 'missed';
  }

  #put(name: string, details: Details | undefined): void {
    const place = placeIn(name);
    this.#nodes.set(name, place && [place, details]);
    if (this.#mark) this.#mark.changes++;
  }

  /** In one step with a writer that is downgraded comes a reader in its place. */
  #remove(name: string, { details, next }: Answers): void {
    this.#nodes.delete(name);
    if (this.#mark) this.#mark.changes++;
    const reader = asReader(name);
    if (reader === name) return;
    const comes = next?.type === 'created' && next.name === reader;
    if (details || comes) this.#put(reader, details);
  }
}
