/** Memory behind a network that delays, overtakes, copies, and loses hints: the same promises. */
import { memoryStore } from 'holdfast/memory';
import { answered, chaosStore, conformance, simulatedClock } from 'holdfast/testkit';
import { describe, test } from 'vitest';

/** Hints may be late, but not by more than the suite waits for stragglers. */
const WEATHER = { ...answered, lateMs: [20, 100] } as const;

describe.each([1, 2, 3, 4, 5])('seed %i', (seed) => {
  conformance({
    test,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
      const clock = simulatedClock(seed);
      const store = memoryStore({ clock, maxWaiters, quarantine });
      return {
        clock,
        connect: () => chaosStore(store, { clock, ...WEATHER }),
        forget: () => store.forget(),
        leap: (ms) => clock.sleep(ms),
        dispose: () => clock.stop(),
      };
    },
    traits: { ...memoryStore().traits, synchronous: false },
    forgets: true,
    leaps: true,
  });
});
