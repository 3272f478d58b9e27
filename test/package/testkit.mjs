// The published suite under Node's own test runner, on a store of the package.
import { test } from 'node:test';
import { memoryStore } from 'holdfast/memory';
import { conformance, simulatedClock } from 'holdfast/testkit';

conformance({
  test,
  skip: (name, reason) => test(name, { skip: reason }, () => {}),
  create({ maxWaiters }) {
    const clock = simulatedClock();
    const store = memoryStore(maxWaiters === undefined ? { clock } : { clock, maxWaiters });
    return { clock, connect: () => store, dispose: () => clock.stop() };
  },
  traits: memoryStore().traits,
});
