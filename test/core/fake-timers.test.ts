/** A test of an app that fakes timers goes on getting locks. */
import { performance } from 'node:perf_hooks';
import { mock } from 'node:test';
import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { afterEach, expect, it, vi } from 'vitest';

const now = performance.now.bind(performance);

afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
});

const FAKES: readonly (readonly [string, () => void])[] = [
  ['vitest', () => void vi.useFakeTimers()],
  ['node:test', () => mock.timers.enable()],
];

it.each(FAKES)('locks go on under the fake timers of %s', async (_, fake) => {
  const locks = createLocks(memoryStore());
  fake();
  // The first hand-off arms an immediate; those that come 2 ms later wait for it.
  const until = now() + 20;
  let runs = 0;
  while (now() < until || runs < 3) await locks.mutex('a').run(() => runs++);
  const lease = await locks.mutex('a').acquire();
  await expect(locks.mutex('a').acquire({ wait: 20 })).rejects.toThrow(/Not acquired/);
  await lease.release();
});
