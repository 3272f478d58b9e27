/** What the calls of a leak test are made on. */
import { createLocks, type Locks, list, type Store } from 'holdfast';
import { listed } from '../../support/listed.ts';

/** Where a store keeps its data, for as long as the file of tests runs. */
export interface Ground {
  /** Another store, with connections of its own, to the same data. */
  open(): Store;
  /** Names the same data for `connect`. */
  readonly url: string;
  /** Default 10,000. */
  readonly rounds?: number;
  /** How often one may connect; each takes what the server needs for it. */
  readonly connects: number;
  /** What there is at the server, by what it is: connections, keys, rows. */
  left?(): Promise<Readonly<Record<string, number>>>;
  close(): unknown;
}

/** So many rounds are under way at the same time, each with names of its own. */
export const LANES = 50;

/** One of the rounds that are under way at the same time. */
export interface Lane {
  readonly locks: Locks;
  /** As another process has them. */
  readonly others: Locks;
  readonly store: Store;
  readonly url: string;
  /** Nobody else uses it. */
  readonly name: string;
  /** Somebody else holds it all the time. */
  readonly busy: string;
  /** Lives on, and never aborts. */
  readonly signal: AbortSignal;
  /** What goes on from round to round. */
  goingOn<T extends AsyncDisposable>(begin: () => T): T;
}

export class World {
  static #opened = 0;
  readonly signal: AbortSignal = new AbortController().signal;
  readonly lanes: readonly Lane[];
  readonly #stores: readonly Store[];
  readonly #all: readonly Locks[];
  readonly #goingOn: AsyncDisposable[] = [];

  private constructor(ground: Ground) {
    this.#stores = [ground.open(), ground.open()];
    // Longer than a machine that has much else to do may stand still.
    this.#all = this.#stores.map((store) => createLocks(store, { ttl: '30s' }));
    const [locks, others] = this.#all as [Locks, Locks];
    const [store] = this.#stores as [Store];
    const { signal } = this;
    // What a test that failed has left behind disturbs none after it.
    const nth = ++World.#opened;
    this.lanes = Array.from({ length: LANES }, (_, i) => ({
      ...{ locks, others, store, signal, url: ground.url },
      ...{ name: `own-${nth}-${i}`, busy: `busy-${nth}-${i}` },
      goingOn: this.#laneOf(),
    }));
  }

  static async open(ground: Ground): Promise<World> {
    const world = new World(ground);
    const busy = world.lanes.map(({ others, busy }) => others.mutex(busy).acquire());
    world.#goingOn.push(...(await Promise.all(busy)));
    return world;
  }

  /** Names that somebody has or wants. */
  inUse(): Promise<string[]> {
    const [locks] = this.#all;
    return listed(locks && list(locks));
  }

  /** What goes on from round to round ends. */
  async end(): Promise<void> {
    await Promise.all(this.#goingOn.splice(0).map((each) => each[Symbol.asyncDispose]()));
  }

  async close(): Promise<void> {
    await this.end();
    await Promise.all(this.#all.map((locks) => locks.close({ drain: 0 })));
  }

  #laneOf(): Lane['goingOn'] {
    let begun: AsyncDisposable | undefined;
    return <T extends AsyncDisposable>(begin: () => T): T => {
      if (!begun) {
        begun = begin();
        this.#goingOn.push(begun);
      }
      return begun as T;
    };
  }
}
