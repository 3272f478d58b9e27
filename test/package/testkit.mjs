// The published suite under Node's own test runner, on a store of the package.
import { test } from 'node:test';
import { memoryStore } from 'holdfast/memory';
import { conformance, simulatedClock } from 'holdfast/testkit';

conformance({
  test,
  skip(name, reason) {
    if (reason.endsWith('all programs wait after a loss of data')) return;
    throw new Error(`${name} is left out: ${reason}`);
  },
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
