/** Memory behind a network that delays, overtakes, copies, and loses hints: the same promises. */
import { memoryStore } from 'holdfast/memory';
import { answered, chaosStore } from 'holdfast/testkit';
import { describe } from 'vitest';
import { RUN, WHOLE } from '../../support/this-run.ts';
import { simulatedSuite } from './suite.ts';

/** Hints may be late, but not by more than the suite waits for stragglers. */
const WEATHER = { ...answered, lateMs: [20, 100] } as const;

describe.each(WHOLE ? [1, 2, 3, 4, 5] : [RUN])('seed %i', (seed) => {
  simulatedSuite({
    seed,
    open(clock, options) {
      const store = memoryStore({ clock, ...options });
      return {
        connect: () => chaosStore(store, { clock, ...WEATHER }),
        forget: () => store.forget(),
      };
    },
    traits: { ...memoryStore().traits, synchronous: false },
    forgets: true,
  });
});
