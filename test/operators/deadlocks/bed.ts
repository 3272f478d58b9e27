import type { AcquireOptions, DeadlockOptions, Lock, LockEvents, Locks, Store } from 'holdfast';
import { createLocks, detectDeadlocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type SimulatedClock, simulatedClock } from 'holdfast/testkit';
import { onTestFinished, type TestAPI, test, vi } from 'vitest';

/** A program with its own locks on a store that it shares. */
export interface Program {
  readonly locks: Locks;
  readonly told: LockEvents['deadlock'][];
  readonly stop: () => void;
}

/** Programs on one store, in a time of their own. */
export class World {
  readonly clock: SimulatedClock;
  readonly store: Store;

  constructor(seed = 1) {
    this.clock = simulatedClock(seed);
    this.store = memoryStore({ clock: this.clock });
    const now = vi.spyOn(Date, 'now').mockImplementation(() => Math.round(this.clock.now()));
    onTestFinished(() => {
      this.clock.stop();
      now.mockRestore();
    });
  }

  program(label: string, options: DeadlockOptions = {}, store: Store = this.store): Program {
    const locks = createLocks(store, { clock: this.clock, label });
    const told: LockEvents['deadlock'][] = [];
    const stop = detectDeadlocks(locks, options);
    locks.on('deadlock', (event) => told.push(event));
    return { locks, told, stop };
  }

  programs(count: number, options: DeadlockOptions = {}): Program[] {
    return Array.from({ length: count }, (_, i) => this.program(`p${i}`, options));
  }

  /** Holds one, and after so many ms waits for the other. */
  nest(holds: Lock, ms: number, wants: Lock, options: AcquireOptions = {}): Promise<string> {
    return holds.run(async () => {
      await this.clock.sleep(ms);
      return wants.run(options, () => 'done');
    });
  }

  /** Each holds a mutex and, a bit later than the one before it, waits for that of the next. */
  ring(programs: readonly Program[], options?: AcquireOptions): Promise<unknown>[] {
    return programs.map(({ locks }, i) => {
      const next = locks.mutex(`m${(i + 1) % programs.length}`);
      return this.nest(locks.mutex(`m${i}`), 100 + i, next, options);
    });
  }
}

/** A test that gets a world of its own. */
export const it: TestAPI<{ readonly world: World }> = test.extend<{ readonly world: World }>({
  world: ({ task: _ }, give) => give(new World()),
});

/** What became of them: a value, or the code of the error. */
export async function outcomes(works: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(works);
  return settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code));
}
