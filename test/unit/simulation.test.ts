/**
 * Many processes, one store, and a network that delays, loses and repeats: whatever happens, at
 * most one lease is held at any moment, tokens grow, every wait ends and nothing is left behind.
 * A failing seed is printed and always takes the same course.
 */
import { type Claim, createLocks, type Lease, type Locks, type Store, StoreError } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeClock } from './fake-clock.ts';

const SEEDS = 150;
const PROCESSES = 3;
const TASKS = 24;

class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0;
  }

  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  one<T>(...list: [T, ...T[]]): T {
    return list[this.below(list.length)] as T;
  }
}

/** The same store, far away. `trouble` is the share of requests that go wrong. */
function remote(near: Store, clock: FakeClock, chance: Chance, trouble: number): Store {
  const pass = (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.setTimeout(resolve, ms).unref());

  function far<R>(
    verb: (claims: readonly Claim[]) => Promise<R>,
  ): (claims: readonly Claim[]) => Promise<R> {
    return async (claims) => {
      const fate = chance.next() < trouble ? chance.below(4) : 4;
      const unknown = chance.next() < 0.5;
      const fail = (): Promise<never> =>
        unknown
          ? Promise.reject(new StoreError('cut off', { retryable: true, outcome: 'unknown' }))
          : new Promise(() => {});
      await pass(chance.below(20));
      if (fate === 0) throw new StoreError('busy', { retryable: true, outcome: 'failed' });
      if (fate === 1) return fail();
      if (fate === 2) {
        // Its copy arrives when nobody waits for it any more.
        void pass(100 + chance.below(1_500)).then(() => verb(claims));
        return fail();
      }
      const answer = await verb(claims);
      await pass(chance.below(20) + (chance.next() < trouble ? chance.below(900) : 0));
      return fate === 3 ? fail() : answer;
    };
  }

  return {
    name: 'remote',
    traits: { ...near.traits, synchronous: false, sequential: chance.next() < 0.5 },
    lineage: near.lineage,
    claim: far((claims) => near.claim(claims)),
    renew: far((claims) => near.renew(claims)),
    release: (claims, after) => far((all) => near.release(all, after))(claims),
    inspect: (resource) => near.inspect(resource),
    async watch(claim, wake) {
      const hear: typeof wake = (hint) => {
        if (chance.next() < trouble) return;
        void pass(chance.below(30)).then(() => wake(hint));
      };
      return (await near.watch?.(claim, hear)) as AsyncDisposable;
    },
  };
}

interface World {
  readonly clock: FakeClock;
  readonly chance: Chance;
  readonly leases: Set<Lease>;
  readonly tokens: bigint[];
  readonly problems: string[];
}

function take({ leases, tokens, problems }: World, lease: Lease, task: number): void {
  const others = [...leases].filter((other) => other !== lease && other.held);
  if (lease.held && others.length > 0) problems.push(`task ${task} holds beside another`);
  const last = tokens.at(-1) ?? 0n;
  if (lease.held && lease.token <= last) problems.push(`token ${lease.token} after ${last}`);
  if (lease.held) tokens.push(lease.token);
  leases.add(lease);
  lease.signal.addEventListener('abort', () => {
    if (lease.held) problems.push(`task ${task} was told that it lost what it holds`);
  });
}

async function work(world: World, locks: Locks, task: number): Promise<void> {
  const { clock, chance } = world;
  await new Promise<void>((resolve) => clock.setTimeout(resolve, chance.below(2_000)));
  const fair = chance.one(true, false, false);
  const mutex = locks.mutex(
    'a',
    chance.one({ fair }, { fair }, { fair, ttl: 700 }, { minHold: 80 }),
  );
  const aborter = new AbortController();
  if (chance.next() < 0.3) clock.setTimeout(() => aborter.abort(), chance.below(3_000));
  const options = {
    signal: aborter.signal,
    ...(chance.next() < 0.3 ? { wait: chance.below(4_000) } : {}),
  };
  const hold = chance.one(0, 1, 30, 200, 1_500);
  const inside = async (lease: Lease): Promise<void> => {
    take(world, lease, task);
    if (hold > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, hold));
    if (chance.next() < 0.1) clock.stall(chance.below(2_000));
    take({ ...world, tokens: [] }, lease, task);
  };
  const ran = chance.next() < 0.2 ? mutex.tryRun(options, inside) : mutex.run(options, inside);
  await ran.catch(() => {});
}

async function simulate(seed: number): Promise<string[]> {
  const clock = new FakeClock();
  const chance = new Chance(seed);
  clock.random = () => chance.next();
  const near = memoryStore({ clock, quarantine: 0 });
  const trouble = chance.one(0, 0.05, 0.3);
  const world: World = { clock, chance, leases: new Set(), tokens: [], problems: [] };
  const processes = Array.from({ length: PROCESSES }, () =>
    createLocks(remote(near, clock, chance, trouble), { clock, ttl: 1_000 }),
  );
  let done = 0;
  for (let task = 0; task < TASKS; task++) {
    void work(world, processes[task % PROCESSES] as Locks, task).then(() => done++);
  }
  await clock.advance(120_000);
  const { problems } = world;
  if (done < TASKS) problems.push(`${TASKS - done} tasks never ended`);
  if (clock.keepingAlive > 0) problems.push(`${clock.keepingAlive} timers are left`);
  const { holders, waiters } = await near.inspect('a');
  if (holders.length + waiters.length > 0) problems.push('claims are left in the store');
  for (const locks of processes) void locks.close({ drain: 0 });
  await clock.advance(10_000);
  if (clock.timers > 0) problems.push(`${clock.timers} timers are left after close`);
  return problems;
}

const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);

beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.removeListener('unhandledRejection', note));

it(`keeps its promises in ${SEEDS} simulated worlds`, async () => {
  const failed: Record<number, string[]> = {};
  for (let seed = 1; seed <= SEEDS; seed++) {
    const problems = await simulate(seed);
    if (problems.length > 0) failed[seed] = problems;
  }
  expect(failed).toEqual({});
  expect(rejections).toEqual([]);
});
