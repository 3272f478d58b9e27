/**
 * Random histories on a store that delays each request and each reply: waits run out and are made
 * again, holds end while their tasks wait, and what is read is old. The oracle has seen all: what
 * is told was a deadlock at one moment, and what lasts is told.
 */
import fc from 'fast-check';
import type { Lock, Locks, PublishedWait, Store } from 'holdfast';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect, it } from 'vitest';
import { cases } from '../../support/cases.ts';
import { outcomes, type Program, World } from './bed.ts';
import { idsOf, neverEnding } from './oracle.ts';

interface Step {
  /** A mutex; a read-write lock and its side; a semaphore, its limit and how many it takes. */
  readonly lock: string;
  readonly beforeMs: number;
  /** How long it waits; then its task goes on without it. */
  readonly wait?: number | undefined;
  readonly maxHold?: number | undefined;
}

/** From when until when it waited, or held. */
type Span = { readonly from: number; to: number };

const LONG_MS = 200_000;

/** Of requests and replies, in turn. */
const delays = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.nat(50) },
    { weight: 2, arbitrary: fc.nat(900) },
    { weight: 1, arbitrary: fc.nat(2_500) },
  ),
  { minLength: 3, maxLength: 12 },
);

/** In so many of six cases. */
function often<T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 6 - weight, arbitrary: fc.constant(undefined) }, { weight, arbitrary });
}

const waits = often(fc.integer({ min: 700, max: 4_000 }), 2);

/** Each holds what the one before it wants. */
const rings: fc.Arbitrary<Step[][]> = fc
  .array(fc.record({ beforeMs: fc.nat(4_000), wait: waits }), { minLength: 2, maxLength: 3 })
  .map((all) =>
    all.map((step, i) => {
      const first = { lock: `m${i}`, beforeMs: 0 };
      return [first, { ...step, lock: `m${(i + 1) % all.length}` }];
    }),
  );

function crowds(locks: readonly string[]): fc.Arbitrary<Step[][]> {
  const step = fc.record({
    lock: fc.constantFrom(...locks),
    beforeMs: fc.nat(4_000),
    wait: waits,
    maxHold: often(fc.integer({ min: 2_000, max: 9_000 }), 1),
  });
  const resource = ({ lock }: Step): string => lock.slice(0, 2);
  const task = fc.uniqueArray(step, { minLength: 2, maxLength: 4, selector: resource });
  return fc.oneof(fc.array(task, { minLength: 2, maxLength: 5 }), rings);
}

function lockOf(locks: Locks, { lock, maxHold }: Step): Lock {
  const [name, how] = lock.split(' ') as [string, string?];
  const options = maxHold === undefined ? {} : { maxHold };
  if (how === 'read' || how === 'write') return locks.rwLock(name, options)[how];
  if (how) return locks.semaphore(name, { ...options, limit: Number(how) });
  return locks.mutex(name, options);
}

/** Delays what it is asked, and what it replies; what is over stays for longest. */
function slowed(world: World, delaysMs: readonly number[], first: number): Store {
  let asked = first;
  const delay = () => world.clock.sleep(delaysMs[asked++ % delaysMs.length] as number);
  return aroundStore(world.store, async ({ verb }, next) => {
    if (verb === 'watch') return next();
    for (let times = verb === 'release' ? 4 : 1; times > 0; times--) await delay();
    const reply = await next();
    await delay();
    return reply;
  });
}

/** What truly was, by the events of all programs. */
class Chronicle {
  readonly #spans = new Map<string, Span>();
  readonly #now: () => number;

  constructor(world: World) {
    this.#now = () => world.clock.now();
  }

  follow({ locks }: Program, label: string): void {
    const begun = new Map<object, string>();
    locks.on('acquiring', ({ acquisition, resource }) => {
      const key = `${label} waits for ${resource} since ${Math.round(this.#now())}`;
      begun.set(acquisition, key);
      this.#begin(key);
    });
    const waited = ({ acquisition }: { acquisition: object }): void => {
      this.#end(begun.get(acquisition));
    };
    locks.on('acquired', waited);
    locks.on('missed', waited);
    locks.on('acquired', ({ resource, token }) => this.#begin(`${resource} ${token}`));
    locks.on('released', ({ resource, token }) => this.#end(`${resource} ${token}`));
    locks.on('lost', ({ resource, token }) => this.#end(`${resource} ${token}`));
  }

  /** All that it says was true at one moment. */
  confirms(cycle: readonly PublishedWait[]): boolean {
    const spans = this.#spansOf(cycle);
    const from = Math.max(...spans.map((span) => span.from));
    return spans.every(({ to }) => to >= from);
  }

  lasts(cycle: readonly PublishedWait[]): boolean {
    return this.#spansOf(cycle).every(({ to }) => to === Number.POSITIVE_INFINITY);
  }

  #spansOf(cycle: readonly PublishedWait[]): Span[] {
    const keys = cycle.flatMap(({ resource, holder: { label, since }, holds }) => [
      `${label} waits for ${resource} since ${since}`,
      ...holds.map((hold) => `${hold.resource} ${hold.token}`),
    ]);
    return keys.map((key) => this.#spans.get(key) ?? expect.fail(`Nothing is known of ${key}.`));
  }

  #begin(key: string): void {
    this.#spans.set(key, { from: this.#now(), to: Number.POSITIVE_INFINITY });
  }

  #end(key: string | undefined): void {
    const span = this.#spans.get(key ?? '');
    if (span) span.to = this.#now();
  }
}

/** Those told, and whether tasks are left that have come to no end. */
async function play(tasks: readonly Step[][], delaysMs: readonly number[]) {
  const world = new World();
  const chronicle = new Chronicle(world);
  let left = tasks.length;
  const all = tasks.map((_, i) => {
    const label = `p${i}`;
    const program = world.program(label, { after: 300 }, slowed(world, delaysMs, i));
    chronicle.follow(program, label);
    return program;
  });
  const take = async (locks: Locks, [step, ...rest]: readonly Step[]): Promise<void> => {
    if (!step) return world.clock.sleep(500);
    await world.clock.sleep(step.beforeMs);
    const { lock, wait } = step;
    const permits = Number(lock.split(' ')[2] ?? 1);
    const options = { permits, ...(wait !== undefined && { wait }) };
    const run = lockOf(locks, step).run(options, () => take(locks, rest));
    // A wait that ran out, or a hold that was lost: the task goes on with what it has.
    await run.catch(() => world.clock.sleep(2_000));
  };
  tasks.forEach((task, i) => {
    void take((all[i] as Program).locks, task).then(() => left--);
  });
  await world.clock.sleep(LONG_MS);
  const told = all.flatMap((program) => program.told.map(({ cycle }) => cycle));
  for (const cycle of told) {
    expect(chronicle.confirms(cycle)).toBe(true);
    expect(idsOf(neverEnding(cycle))).toEqual(idsOf(cycle));
  }
  const lasting = told.filter((cycle) => chronicle.lasts(cycle));
  world.clock.stop();
  return { told, lasting, left };
}

describe('in a random history', () => {
  it('what is told was a deadlock, whatever is late, lost or left', async () => {
    let count = 0;
    const mixed = crowds([
      ...['m0', 'm1', 's0 2', 's0 2 2', 's1 3', 's1 3 2'],
      ...['r0 read', 'r0 write', 'r1 read', 'r1 write'],
    ]);
    const check = async (tasks: Step[][], delaysMs: number[]): Promise<void> => {
      count += (await play(tasks, delaysMs)).told.length;
    };
    await fc.assert(fc.asyncProperty(mixed, delays, check), cases(120));

    expect(count).toBeGreaterThan(0);
  });

  it('a deadlock that lasts is told', async () => {
    let count = 0;
    const check = async (tasks: Step[][], delaysMs: number[]): Promise<void> => {
      const { lasting, left } = await play(tasks, delaysMs);
      expect(lasting.length > 0).toBe(left > 0);
      if (left > 0) count++;
    };
    const plain = crowds(['m0', 'm1', 'm2', 's0 2']);
    await fc.assert(fc.asyncProperty(plain, delays, check), cases(120));

    expect(count).toBeGreaterThan(0);
  });

  it('all get on if the youngest is rejected, and nobody is without a deadlock', async () => {
    let rejected = 0;
    const check = async (tasks: Step[][]): Promise<void> => {
      const world = new World();
      const all = world.programs(tasks.length, { onDeadlock: 'reject' });
      const take = async (locks: Locks, [step, ...rest]: readonly Step[]): Promise<void> => {
        if (!step) return world.clock.sleep(1_000);
        await world.clock.sleep(step.beforeMs);
        // It waits without end.
        await lockOf(locks, { ...step, maxHold: undefined }).run(() => take(locks, rest));
      };
      const works = tasks.map((task, i) => take((all[i] as Program).locks, task));
      const late = world.clock.sleep(LONG_MS).then((): unknown[] => []);
      const ends = await Promise.race([outcomes(works), late]);
      const victims = ends.filter((end) => end === 'DEADLOCK').length;
      const done = Array(tasks.length - victims).fill(undefined);
      expect(ends.filter((end) => end !== 'DEADLOCK')).toEqual(done);
      const told = all.flatMap((program) => program.told);
      expect(victims > 0).toBe(told.length > 0);
      expect(new Set(told.flatMap(({ victim }) => victim?.id ?? [])).size).toBe(victims);
      rejected += victims;
      world.clock.stop();
    };
    await fc.assert(fc.asyncProperty(crowds(['m0', 'm1', 's0 2', 's1 2']), check), cases(120));

    expect(rejected).toBeGreaterThan(0);
  });
});
