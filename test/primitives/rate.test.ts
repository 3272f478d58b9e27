/** A semaphore with `minHold`: no more holds than its limit begin in any such time. */
import { createLocks, isLockError, type Locks, type Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { chaosStore, countingStore, type SimulatedClock, simulatedClock } from 'holdfast/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seedsOf } from '../support/this-run.ts';

const RATE = { limit: 3, minHold: '1s' } as const;
const MIN_HOLD_MS = 1_000;

function newClock(seed?: number): SimulatedClock {
  const clock = simulatedClock(seed);
  onTestFinished(() => clock.stop());
  return clock;
}

/** Of so many processes. */
function locksOn(open: () => Store, clock: SimulatedClock, processes = 2): Locks[] {
  return Array.from({ length: processes }, () => createLocks(open(), { clock, ttl: '4s' }));
}

/** The shortest time in which one hold more than the limit has begun, in ms, to the µs. */
function shortest(begun: readonly number[]): number {
  const inOrder = begun.toSorted((a, b) => a - b);
  const times = inOrder.slice(RATE.limit).map((at, i) => at - (inOrder[i] ?? at));
  return Math.round(Math.min(...times) * 1000) / 1000;
}

describe('a semaphore with minHold', () => {
  it('begins as many holds as its limit in each, and hardly waits in between', async () => {
    const clock = newClock();
    const store = memoryStore({ clock });
    const semaphores = locksOn(() => store, clock).map((each) => each.semaphore('api', RATE));
    const begun: number[] = [];
    const begin = (i: number) => semaphores[i % 2]?.run(({ since }) => void begun.push(since));
    await Promise.all(Array.from({ length: 60 }, (_, i) => begin(i)));
    expect(begun).toHaveLength(60);
    expect(shortest(begun)).toBeGreaterThanOrEqual(MIN_HOLD_MS);
    // 57 of them waited for the end of another.
    const least = (57 / RATE.limit) * MIN_HOLD_MS;
    expect(Math.max(...begun) - Math.min(...begun)).toBeLessThanOrEqual(least * 1.01);
  });

  it('counts longer work as what it is, and no more', async () => {
    const clock = newClock();
    const store = memoryStore({ clock });
    const semaphores = locksOn(() => store, clock).map((each) => each.semaphore('api', RATE));
    const begun: number[] = [];
    const begin = (i: number) =>
      semaphores[i % 2]?.run(({ since }) => {
        begun.push(since);
        return clock.sleep(i % 3 === 0 ? '2.5s' : '0.5s');
      });
    await Promise.all(Array.from({ length: 12 }, (_, i) => begin(i)));
    expect(shortest(begun)).toBeGreaterThanOrEqual(MIN_HOLD_MS);
    // They hold for 18 s in all, three at a time.
    expect(Math.max(...begun) - Math.min(...begun)).toBeLessThan(7_000);
  });

  it('lacks a permit after a process died, until the TTL of its claim', async () => {
    const clock = newClock();
    const store = memoryStore({ clock });
    const [dead, alive] = locksOn(() => store, clock) as [Locks, Locks];
    const last = await dead.semaphore('api', { ...RATE, heartbeat: false }).acquire();
    const semaphore = alive.semaphore('api', RATE);
    const begun: number[] = [];
    const begin = () => semaphore.run(({ since }) => void begun.push(since - last.since));
    await Promise.all(Array.from({ length: 12 }, begin));
    // Two of three for four seconds.
    expect(begun.filter((at) => at < 4_000)).toHaveLength(8);
    expect(shortest([0, ...begun])).toBeGreaterThanOrEqual(MIN_HOLD_MS);
    expect(Math.max(...begun)).toBeLessThan(5_100);
  });

  it('asks once for a hold that had to wait', async () => {
    const clock = newClock();
    const memory = memoryStore({ clock });
    const store = countingStore(memory);
    const one = { limit: 1, minHold: '1s' } as const;
    await createLocks(memory, { clock })
      .semaphore('api', one)
      .run(() => {});
    await createLocks(store, { clock })
      .semaphore('api', one)
      .run(() => {});
    const requests = (['claim', 'renew', 'release'] as const).map((verb) => store.count(verb));
    expect(requests.map((count) => count.requests)).toEqual([1, 1, 1]);
  });

  it.each(seedsOf(60))('keeps it on a network that loses and repeats, seed %i', async (seed) => {
    const clock = newClock(seed);
    const memory = memoryStore({ clock });
    const all = locksOn(() => chaosStore(memory, { clock }), clock, 3);
    const semaphores = all.map((each) => each.semaphore('api', RATE));
    const begun: number[] = [];
    const begin = (i: number): Promise<void> | undefined =>
      semaphores[i % 3]
        ?.run(({ since }) => {
          begun.push(since);
          return clock.sleep(clock.random() * 600);
        })
        .catch((error: unknown) => {
          if (!isLockError(error)) throw error;
        });
    await Promise.all(Array.from({ length: 24 }, (_, i) => begin(i)));
    expect(begun.length).toBeGreaterThan(RATE.limit);
    expect(shortest(begun)).toBeGreaterThanOrEqual(MIN_HOLD_MS);
  });
});
