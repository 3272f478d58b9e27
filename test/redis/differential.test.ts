/**
 * The same verbs on Redis and on the memory store, which is the reference: same answers, same
 * hints, same order. The clock of the server is stepped along with that of the reference.
 */
import { type RedisOptions, redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Store } from '../../src/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { RedisServer } from '../servers/redis-server.ts';
import { SteppedClock } from '../servers/stepped-clock.ts';
import { Chance } from '../simulation/chance.ts';
import { Bed, claimOf } from './bed.ts';
import { MAX_TTL_MS, UNIT_MS } from './differential/steps.ts';
import { World } from './differential/world.ts';

/** Worlds whose steps are sent at once, because they share their clocks. */
const AT_ONCE = 100;
const GROUPS = 20;
const STEPS = 30;

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 1_000_000;

test('Redis answers and tells as memory does', { timeout: 120_000 }, async () => {
  await using bed = new Bed();
  const clock = bed.serve(await SteppedClock.create());
  const server = bed.serve(await RedisServer.start({ env: clock.env }));
  let now = 0;
  const pass = (ms: number): void => {
    now += ms;
    clock.step(ms);
  };
  const sides: Store[][][] = [];
  const ears: Ear[] = [];
  for (const maxWaiters of [10_000, 4]) {
    const memory = memoryStore({ maxWaiters, clock: { ...systemClock(), now: () => now } });
    const stores = [0, 1].map(() => open(bed, server, { maxWaiters }));
    for (const store of stores) ears.push(await Ear.open(store, `ear ${ears.length}`));
    sides.push([[memory, memory], stores]);
  }
  for (let group = 0; group < GROUPS; group++) {
    const chance = new Chance(group);
    const worlds = Array.from({ length: AT_ONCE }, (_, i) => {
      return new World(group * AT_ONCE + i, chance.one(sides), () => now);
    });
    for (let step = 0; step < STEPS; step++) {
      if (chance.share(0.25)) pass(chance.between(1, 3) * UNIT_MS);
      await Promise.all(worlds.map((world) => world.step()));
      await Promise.all(ears.map((ear) => ear.hearAll()));
      for (const world of worlds) world.checkHints();
    }
    await Promise.all(worlds.map((world) => world.end()));
  }
  for (const ear of ears) await ear.close();
  pass(LONG_MS);
  expect(await server.command('KEYS', '*')).toEqual(['holdfast!store']);
});

function open(bed: Bed, { url }: RedisServer, options: RedisOptions): Store {
  const client = new Redis(url, { lazyConnect: true });
  return bed.use(redisStore(client, { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS, ...options }));
}

/** Knows that a process has received all messages, because they come in order. */
class Ear {
  readonly #store: Store;
  readonly #resource: string;
  readonly #holder: ReturnType<typeof claimOf>;
  #heard = (): void => {};

  static async open(store: Store, resource: string): Promise<Ear> {
    const ear = new Ear(store, resource);
    await store.watch?.(ear.#holder, () => ear.#heard());
    await store.claim([ear.#holder]);
    return ear;
  }

  private constructor(store: Store, resource: string) {
    this.#store = store;
    this.#resource = resource;
    this.#holder = claimOf(resource, { ttlMs: 1e9 });
  }

  /** The holder is told of its first waiter. */
  async hearAll(): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      this.#heard = resolve;
    });
    const waiter = claimOf(this.#resource);
    await this.#store.claim([waiter]);
    await heard;
    await this.#store.release([waiter]);
  }

  async close(): Promise<void> {
    await this.#store.release([this.#holder]);
  }
}
