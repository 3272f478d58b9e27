/**
 * Random crowds of tasks that take locks inside locks. The oracle is what becomes of them: a task
 * that is at rest after a long time is in a deadlock, or behind one.
 */
import fc from 'fast-check';
import type { Lock, LockError, Locks } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { cases } from '../../support/cases.ts';
import { type Program, World } from './bed.ts';

interface Step {
  readonly lock: number;
  readonly permits: number;
  readonly beforeMs: number;
}

type Task = readonly Step[];

/** Longer than all work of a crowd, one after another. */
const LONG_MS = 150_000;

const LOCKS = 4;

function crowds(mostPermits: number): fc.Arbitrary<Task[]> {
  const step = fc.record({
    lock: fc.nat(LOCKS - 1),
    permits: fc.integer({ min: 1, max: mostPermits }),
    beforeMs: fc.nat(4_000),
  });
  const task = fc.uniqueArray(step, { minLength: 2, maxLength: 3, selector: ({ lock }) => lock });
  return fc.array(task, { minLength: 2, maxLength: 6 });
}

/** Two mutexes, and two semaphores. */
function lockOf(locks: Locks, { lock }: Step): Lock {
  return lock < 2 ? locks.mutex(`m${lock}`) : locks.semaphore(`s${lock}`, { limit: 2 });
}

function optionsOf({ lock, permits }: Step): { permits?: number } {
  return lock < 2 ? {} : { permits };
}

/** Which tasks have ended, and how; the others are at rest. */
async function play(
  tasks: readonly Task[],
  onDeadlock: 'event' | 'reject',
): Promise<{ ends: unknown[]; all: Program[] }> {
  const world = new World();
  const all = world.programs(tasks.length, { onDeadlock });
  const ends: unknown[] = tasks.map(() => undefined);
  const take = async (locks: Locks, [step, ...rest]: Task): Promise<void> => {
    if (!step) return world.clock.sleep(1_000);
    await world.clock.sleep(step.beforeMs);
    await lockOf(locks, step).run(optionsOf(step), () => take(locks, rest));
  };
  tasks.forEach((task, i) => {
    const { locks } = all[i] as Program;
    const end = take(locks, task).then(
      () => 'done',
      (error: LockError) => error.code,
    );
    void end.then((how) => {
      ends[i] = how;
    });
  });
  await world.clock.sleep(LONG_MS);
  world.clock.stop();
  return { ends, all };
}

function stuckIn(ends: readonly unknown[]): number[] {
  return [...ends.keys()].filter((i) => ends[i] === undefined);
}

function toldIn(all: readonly Program[]): number[] {
  return [...all.keys()].filter((i) => (all[i] as Program).told.length > 0);
}

describe('a random crowd', () => {
  it('is told of a deadlock if there is one, and only those in one', async () => {
    let deadlocks = 0;
    const crowd = async (tasks: Task[]): Promise<void> => {
      const { ends, all } = await play(tasks, 'event');
      const [stuck, told] = [stuckIn(ends), toldIn(all)];
      if (stuck.length > 0) deadlocks++;
      expect(told.length > 0).toBe(stuck.length > 0);
      expect(stuck).toEqual(expect.arrayContaining(told));
    };
    await fc.assert(fc.asyncProperty(crowds(1), crowd), cases(60));
    expect(deadlocks).toBeGreaterThan(0);
  });

  it('that asks for several permits is told of no deadlock that is none', async () => {
    const crowd = async (tasks: Task[]): Promise<void> => {
      const { ends, all } = await play(tasks, 'event');
      expect(stuckIn(ends)).toEqual(expect.arrayContaining(toldIn(all)));
    };
    await fc.assert(fc.asyncProperty(crowds(2), crowd), cases(60));
  });

  it('gets on if the youngest is rejected, and nobody is without a deadlock', async () => {
    let rejected = 0;
    const crowd = async (tasks: Task[]): Promise<void> => {
      const { ends, all } = await play(tasks, 'reject');
      const victims = ends.filter((end) => end === 'DEADLOCK').length;
      rejected += victims;
      expect(stuckIn(ends)).toEqual([]);
      expect(ends.filter((end) => end !== 'done')).toHaveLength(victims);
      expect(victims > 0).toBe(toldIn(all).length > 0);
      const ids = all.flatMap(({ told }) => told.flatMap(({ victim }) => victim?.id ?? []));
      expect(new Set(ids).size).toBe(victims);
    };
    await fc.assert(fc.asyncProperty(crowds(1), crowd), cases(60));
    expect(rejected).toBeGreaterThan(0);
  });
});
