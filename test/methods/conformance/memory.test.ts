import { memoryStore } from 'holdfast/memory';
import { conformance, simulatedClock } from 'holdfast/testkit';
import { test } from 'vitest';

conformance({
  test,
  skip: (name, reason) => test(name, (context) => context.skip(reason)),
  create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
    const clock = simulatedClock();
    const store = memoryStore({ clock, maxWaiters, quarantine });
    return {
      clock,
      connect: () => store,
      forget: () => store.forget(),
      leap: (ms) => clock.sleep(ms),
      dispose: () => clock.stop(),
    };
  },
  traits: memoryStore().traits,
  forgets: true,
  leaps: true,
});
