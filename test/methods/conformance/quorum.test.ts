/** Three and five memories as one: the same promises, but for what quorum does not give. */
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { conformance, simulatedClock } from 'holdfast/testkit';
import { describe, test } from 'vitest';

describe.each([3, 5])('%i members', (count) => {
  conformance({
    test,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
      const clock = simulatedClock();
      const member = () => memoryStore({ clock, maxWaiters, quarantine });
      const members = Array.from({ length: count }, member);
      return {
        clock,
        connect: () => quorum(members, { clock }),
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
