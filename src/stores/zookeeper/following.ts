/**
 * A queue as somebody follows it who has no claim in it.
 *
 * A recursive watch tells of each node that comes or goes, and who is admitted follows from their
 * names; who it is has to be read, once, as soon as the news comes. Invariant: what is told is the
 * queue after each of these changes, in order. It holds because the watch is there before the queue
 * is listed, because events come in the order of their changes, and because an event that the list
 * knew already changes nothing (queue-picture.ts). A step may have several events, one right after
 * the other: when a hold ends, the next one is waited for, and has come when anything is answered
 * that was asked afterwards.
 * What cannot be known is said (`missed`): after the loss of a connection servers do not tell what
 * changed, but how often is in the count of the node's changes, and more than one may have hidden a
 * leader; of a node that has gone before it was read nobody knows who it was; and where two of one
 * session go, the second may have held for a moment, or never.
 * What breaks it: servers that tell of a step in parts, with something else in between.
 */
import { isLockError } from '../../base/errors.ts';
import { toStoreError } from '../../contract/errors.ts';
import type { Follower } from '../../contract/store.ts';
import type { Details } from './data.ts';
import { failedWith } from './errors.ts';
import type { KeptSession } from './kept-session.ts';
import { readDetails } from './listing.ts';
import { queueOf } from './looking.ts';
import { placeIn } from './nodes.ts';
import type { Parts } from './parts.ts';
import { type Change, type Heard, type Nodes, QueuePicture } from './queue-picture.ts';
import type { NodeChildren, Stat } from './requests.ts';
import type { WatchEvent } from './watches.ts';

/** Before a look that failed is repeated, in ms. */
const PAUSE_MS = 250;
/** So many nodes are read at a time. */
const AT_ONCE = 100;

export interface FollowingParts extends Pick<Parts, 'sessions' | 'tree' | 'own' | 'clock'> {
  /** One after the other for each path. */
  readonly inTurn: (path: string, work: () => Promise<void>) => Promise<void>;
}

/** A change, with what was asked as soon as it was heard of. */
interface Step extends Change {
  readonly details: Promise<Details | undefined>;
  readonly stat: Promise<Stat | undefined>;
}

const NOTHING = Promise.resolve(undefined);

async function heard({ type, name, details, stat }: Step): Promise<Heard> {
  return { type, name, details: await details, stat: await stat };
}

export class Following {
  readonly #parts: FollowingParts;
  readonly #resource: string;
  readonly #path: string;
  readonly #follower: Follower;
  readonly #picture = new QueuePicture();
  #missed = false;
  #told = false;
  #over = false;
  /** Each look begins another; what belongs to an earlier one is left out. */
  #round = 0;
  /** Events are of no use, are kept for the list, wait for it to be read, or are taken at once. */
  #phase: 'away' | 'listing' | 'reading' | 'taking' | 'live' = 'away';
  #early: Change[] = [];
  #steps: Step[] = [];
  #kept: KeptSession | undefined;
  #unwatch: () => Promise<void> = async () => {};

  constructor(
    parts: FollowingParts,
    { resource, follower }: { readonly resource: string; readonly follower: Follower },
  ) {
    this.#parts = parts;
    this.#resource = resource;
    this.#path = parts.tree.queue(resource);
    this.#follower = follower;
  }

  /**
   * Resolves when the queue was told.
   * @throws StoreError
   */
  async start(): Promise<void> {
    while (!this.#told) await this.#look(++this.#round);
  }

  /** Nothing is told any more. */
  async end(): Promise<void> {
    this.#over = true;
    this.#round++;
    await this.#unwatch();
  }

  /** The watch first, then the queue: what changes in between is heard, or is in the list. */
  async #look(round: number): Promise<void> {
    const kept = await this.#parts.sessions.watching();
    if (this.#kept !== kept) await this.#watch(kept);
    // Another server may be behind what was told.
    if (this.#told) await kept.session.sync(kept.within);
    if (round !== this.#round) return;
    this.#phase = 'listing';
    this.#early = [];
    const listed = await this.#list(kept);
    if (round !== this.#round) return;
    const nodes: Nodes = new Map();
    for (const name of listed?.children ?? []) {
      const place = placeIn(name);
      nodes.set(name, place && [place, this.#picture.detailsOf(name, listed?.stat)]);
    }
    this.#phase = 'reading';
    // Who came and went meanwhile did so before the list or after it: nobody knows.
    const left = new Set(this.#early.map(({ type, name }) => (type === 'deleted' ? name : '')));
    const passed = this.#early.filter(({ name }) => name && left.has(name) && !nodes.has(name));
    for (const change of this.#early) if (!passed.includes(change)) this.#step(change, nodes);
    await this.#fill(kept, nodes);
    if (round !== this.#round) return;
    const unseen = this.#picture.replace(nodes, listed?.stat);
    this.#missed ||= this.#told && unseen;
    this.#tell();
    this.#missed ||= passed.some(({ type }) => type === 'created');
    void this.#take();
  }

  async #list({ session, within }: KeptSession): Promise<NodeChildren | undefined> {
    try {
      return await session.getChildren(this.#path, within);
    } catch (error) {
      if (failedWith(error, 'NONODE')) return undefined;
      throw error;
    }
  }

  /** Those that have gone meanwhile stay without details. */
  async #fill(kept: KeptSession, nodes: Nodes): Promise<void> {
    const places = [...nodes.values()].flatMap((known) => (known && !known[1] ? [known[0]] : []));
    for (let i = 0; i < places.length; i += AT_ONCE) {
      const reads = places.slice(i, i + AT_ONCE).map(async (place) => {
        const details = await readDetails(kept, `${this.#path}/${place.name}`);
        nodes.set(place.name, [place, details]);
      });
      await Promise.all(reads);
    }
  }

  async #watch(kept: KeptSession): Promise<void> {
    await this.#unwatch();
    const { inTurn } = this.#parts;
    const { session, within } = kept;
    const path = this.#path;
    const watch = (event: WatchEvent): void => {
      if (this.#kept === kept) this.#hear(event);
    };
    const release = kept.follow();
    this.#kept = kept;
    this.#unwatch = async () => {
      this.#unwatch = async () => {};
      this.#kept = undefined;
      release();
      await inTurn(path, () => session.unwatch(path, watch, within)).catch(() => {});
    };
    try {
      await inTurn(path, () => session.addWatch(path, { watch, recursive: true, ...within }));
    } catch (error) {
      await this.#unwatch();
      throw error;
    }
  }

  #hear({ type, path }: WatchEvent): void {
    if (this.#over) return;
    if (type === 'expired') void this.#unwatch();
    if (type === 'expired' || type === 'missed') void this.#lookAgain();
    const name = path.slice(this.#path.length + 1);
    const noted = type === 'changed' && name === '';
    if (type !== 'created' && type !== 'deleted' && !noted) return;
    const change: Change = { type, name };
    if (this.#phase === 'listing') this.#early.push(change);
    else if (this.#phase !== 'away') this.#step(change);
    if (this.#phase === 'live') void this.#take();
  }

  /** `listed`: nodes that are read anyway. */
  #step({ type, name }: Change, listed?: Nodes): void {
    const kept = this.#kept;
    if (!kept) return;
    const created = type === 'created';
    const reads = created && placeIn(name) && !listed?.has(name);
    const details = reads ? readDetails(kept, `${this.#path}/${name}`) : NOTHING;
    const itself = created && name === '';
    const stat = itself ? kept.session.exists(this.#path, kept.within) : NOTHING;
    // Whoever takes the step is told of a failure.
    for (const each of [details, stat]) each.catch(() => {});
    this.#steps.push({ type, name, details, stat });
  }

  /** One after the other, each when what was asked is answered. Never rejects. */
  async #take(): Promise<void> {
    const round = this.#round;
    this.#phase = 'taking';
    for (let step = this.#steps.shift(); step; step = this.#steps.shift()) {
      try {
        const change = await heard(step);
        if (this.#steps.length === 0 && this.#picture.mayGoOn(step)) await this.#catchUp();
        const [next] = this.#steps;
        const follows = next && (await heard(next));
        if (round !== this.#round) return;
        const effect = this.#picture.apply(change, follows);
        this.#missed ||= effect === 'missed' || effect === 'unsure';
        if (effect === 'changed' || effect === 'missed') this.#tell();
      } catch {
        if (round === this.#round) void this.#lookAgain();
        return;
      }
    }
    this.#phase = 'live';
  }

  /** All that belongs to what has been heard is heard before any answer to what is asked now. */
  async #catchUp(): Promise<void> {
    await this.#kept?.session.exists(this.#path, this.#kept.within);
  }

  #tell(): void {
    const missed = this.#missed;
    this.#missed = false;
    this.#told = true;
    const queue = queueOf(this.#parts, this.#resource, this.#picture.places);
    this.#follower.told(queue, missed);
  }

  /** Never rejects. */
  async #lookAgain(): Promise<void> {
    const round = ++this.#round;
    this.#phase = 'away';
    this.#steps = [];
    // The first look fails, or is repeated, where it was begun.
    if (!this.#told) return;
    while (round === this.#round) {
      try {
        return await this.#look(round);
      } catch (error) {
        if (round !== this.#round) return;
        const passes = isLockError(error, 'STORE') && toStoreError(error).retryable;
        if (!passes) return this.#follower.failed(toStoreError(error));
        await this.#pause();
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.clock.setTimeout(resolve, PAUSE_MS).unref();
    });
  }
}
