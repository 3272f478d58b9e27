/** Fake timers, as tests of an app fake them, and locks that have to go on under them. */
import { performance } from 'node:perf_hooks';
import { mock } from 'node:test';
import type { Locks } from 'holdfast';
import { expect, vi } from 'vitest';

const now = performance.now.bind(performance);

/** Jest fakes microtasks too. */
const OF_JEST = [
  ...(['Date', 'performance', 'hrtime', 'queueMicrotask'] as const),
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'setImmediate'] as const),
];

export const FAKES: readonly (readonly [string, () => void])[] = [
  ['vitest', () => void vi.useFakeTimers()],
  ['Jest', () => void vi.useFakeTimers({ toFake: [...OF_JEST] })],
  ['node:test', () => mock.timers.enable()],
];

export function realTimers(): void {
  vi.useRealTimers();
  mock.timers.reset();
}

/** Hands on for longer than a turn of the event loop may last, and waits in vain. */
export async function handOn(locks: Locks): Promise<void> {
  // The first hand-off arms an immediate; those that come 2 ms later wait for it.
  const until = now() + 20;
  let runs = 0;
  while (now() < until || runs < 3) await locks.mutex('a').run(() => runs++);
  const crowd = Array.from({ length: 20 }, () => locks.mutex('a').run(() => runs++));
  await Promise.all(crowd);
  const lease = await locks.mutex('a').acquire();
  await expect(locks.mutex('a').acquire({ wait: 20 })).rejects.toThrow(/Not acquired/);
  await lease.release();
}
