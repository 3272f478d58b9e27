/**
 * The same verbs on a store and on the memory store, which is the reference: same answers, same
 * hints, same order. The clock of the server is stepped along with that of the reference.
 */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../../src/base/clock.ts';
import type { Claim, Store } from '../../../src/contract/store.ts';
import { memoryStore } from '../../../src/stores/memory/index.ts';
import { seedsOf } from '../../support/this-run.ts';
import { Chance } from '../simulation/chance.ts';
import { UNIT_MS } from './steps.ts';
import { World } from './world.ts';

/** Worlds whose steps are sent at once, because they share their clocks. */
const AT_ONCE = 100;
const STEPS = 30;

export interface Under {
  /** A store for another process, on the same server each time. */
  readonly open: (options: { readonly maxWaiters: number }) => Store;
  /**
   * Both processes are one: for stores in which a process does not know how the claims of another
   * came to where they are. Default: no.
   */
  readonly together?: boolean;
  /** Steps the clock of the server; without it no time passes. */
  readonly pass?: (ms: number) => unknown;
  /** A store keeps nothing for longer, in ms; default: it does. */
  readonly longestMs?: number;
  /** Its hints come from comparing states, and miss what is again as it was; default: no. */
  readonly hintsByState?: boolean;
  /** It may let claims ask that the reference tells how they stand; default: no. */
  readonly mayAsk?: boolean;
  /** Behind so many it only estimates who is ahead and when to ask; default: never. */
  readonly estimates?: number;
  /** Whether holds go from claim to claim, if it can pass them; default: they do. */
  readonly passes?: boolean;
  /** How often a hundred worlds come into being in a whole run. */
  readonly groups: number;
  /** Of the groups. Default: others in each run. */
  readonly seeds?: readonly number[];
}

/** @throws what somebody could tell the stores apart by, with all that led to it. */
export async function differ(under: Under): Promise<void> {
  const { open, pass, longestMs = 1e9, hintsByState = false, mayAsk = false, groups } = under;
  const { seeds = seedsOf(groups), together = false, passes = true } = under;
  let now = 0;
  const sides: Store[][][] = [];
  const ears: Ear[] = [];
  for (const maxWaiters of [10_000, 4]) {
    const memory = memoryStore({ maxWaiters, clock: { ...systemClock(), now: () => now } });
    const first = open({ maxWaiters });
    const stores = [first, together ? first : open({ maxWaiters })];
    for (const [i, store] of stores.entries()) {
      ears.push(await Ear.open(store, stores[1 - i] as Store, `ear ${ears.length}`, longestMs));
    }
    sides.push([[memory, memory], stores]);
  }
  for (const group of seeds) {
    const chance = new Chance(group);
    const worlds = Array.from({ length: AT_ONCE }, (_, i) => {
      const { estimates } = under;
      const parts = { sides: chance.one(sides), now: () => now, estimates, passes };
      return new World(group * AT_ONCE + i, parts);
    });
    for (let step = 0; step < STEPS; step++) {
      if (pass && chance.share(0.25)) {
        const ms = chance.between(1, 3) * UNIT_MS;
        now += ms;
        await pass(ms);
      }
      await Promise.all(worlds.map((world) => world.step()));
      await Promise.all(ears.map((ear) => ear.hearAll()));
      if (!hintsByState) for (const world of worlds) world.checkHints({ mayAsk });
    }
    await Promise.all(worlds.map((world) => world.end()));
  }
  for (const ear of ears) await ear.close();
}

/**
 * Knows that a process has received all messages. It is told of claims of another process, since
 * what a process does itself may be told to it at once, past messages under way.
 */
class Ear {
  readonly #store: Store;
  readonly #other: Store;
  readonly #terms: Pick<Claim, 'resource' | 'ttlMs'>;
  readonly #holder: Claim;
  #heard = (): void => {};

  static async open(store: Store, other: Store, resource: string, ttlMs: number): Promise<Ear> {
    const ear = new Ear(store, other, { resource, ttlMs });
    await store.watch?.(ear.#holder, () => ear.#heard());
    await store.claim([ear.#holder]);
    return ear;
  }

  private constructor(store: Store, other: Store, terms: Pick<Claim, 'resource' | 'ttlMs'>) {
    this.#store = store;
    this.#other = other;
    this.#terms = terms;
    this.#holder = this.#claim();
  }

  /** A look at news lists them in an order of its own, so only the next one shows that it ended. */
  async hearAll(): Promise<void> {
    await this.#hear();
    await this.#hear();
  }

  /** The holder is told of its first waiter. */
  async #hear(): Promise<void> {
    const heard = new Promise<void>((resolve) => (this.#heard = resolve));
    const waiter = this.#claim();
    await this.#other.claim([waiter]);
    await heard;
    await this.#other.release([waiter]);
  }

  async close(): Promise<void> {
    await this.#store.release([this.#holder]);
  }

  /** It lives longer than all worlds. */
  #claim(): Claim {
    const holder = { host: 'test', pid: process.pid, since: 0 };
    const terms = { kind: 'mutex', permits: 1, limit: 1, queue: true } as const;
    return { ...terms, ...this.#terms, id: randomBytes(16).toString('hex'), holder };
  }
}
