/** A quorum of memories, each behind a network of its own that delays, copies and overtakes. */
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { answered, chaosStore, conformance, simulatedClock } from 'holdfast/testkit';
import { describe, test } from 'vitest';

/** Hints may be late, but not by more than the suite waits for stragglers. */
const WEATHER = { ...answered, lateMs: [20, 60] } as const;

/** What depends on when a member answers. */
const EXCEPT: readonly (readonly [name: RegExp, reason: string])[] = [
  [/^order: order holds between connections/, 'core asks about a claim through one quorum only'],
  [/^takeover: .*not of older ones/, 'a member that did not vote for the last hold tells of older'],
  [/^hints: hints do not give ids away/, 'a claim that has left hears no late hints'],
];

describe.each([1, 2, 3])('seed %i', (seed) => {
  const skip = (name: string, reason: string) => test(name, (context) => context.skip(reason));
  conformance({
    test(name, body) {
      const [, reason] = EXCEPT.find(([pattern]) => pattern.test(name)) ?? [];
      if (reason) skip(name, `not promised: ${reason}`);
      else test(name, body);
    },
    skip,
    create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
      const clock = simulatedClock(seed);
      const memory = () => memoryStore({ clock, maxWaiters, quarantine });
      const members = [memory(), memory(), memory()];
      const far = () => members.map((each) => chaosStore(each, { clock, ...WEATHER }));
      return {
        clock,
        connect: () => quorum(far(), { clock, patience: 150 }),
        forget() {
          for (const each of members) each.forget();
        },
        leap: (ms) => clock.sleep(ms),
        dispose: () => clock.stop(),
      };
    },
    traits: quorum([memoryStore(), memoryStore(), memoryStore()]).traits,
    lacks: ['downgrade', 'raise', 'keep', 'recall'],
    forgets: true,
    leaps: true,
  });
});
