import type { DeadlockOptions } from 'holdfast';
import { createLocks, detectDeadlocks, type LockEvents, type Locks, type Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type SimulatedClock, simulatedClock } from 'holdfast/testkit';
import { onTestFinished, vi } from 'vitest';

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

  /** Each holds a mutex and, a bit later than the one before it, waits for that of the next. */
  ring(programs: readonly Program[], wait?: number): Promise<unknown>[] {
    return programs.map(async ({ locks }, i) => {
      const next = (i + 1) % programs.length;
      return locks.mutex(`m${i}`).run(async () => {
        await this.clock.sleep(100 + i);
        return locks.mutex(`m${next}`).run(wait === undefined ? {} : { wait }, () => i);
      });
    });
  }
}

/** What became of them: a value, or the code of the error. */
export async function outcomes(works: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(works);
  return settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code));
}
