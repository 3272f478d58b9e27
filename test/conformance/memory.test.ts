import { memoryStore } from 'holdfast/memory';
import { conformance, simulatedClock } from 'holdfast/testkit';
import { test } from 'vitest';

conformance({
  test,
  skip: (name, reason) => test(name, (context) => context.skip(reason)),
  create({ maxWaiters }) {
    const clock = simulatedClock();
    const store = memoryStore(maxWaiters === undefined ? { clock } : { clock, maxWaiters });
    return { clock, connect: () => store, dispose: () => clock.stop() };
  },
  traits: memoryStore().traits,
});
