/** A test of an app that fakes timers goes on getting locks. */
import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { afterEach, it } from 'vitest';
import { FAKES, handOn, realTimers } from '../support/fake-timers.ts';

afterEach(realTimers);

it.each(FAKES)('locks go on under the fake timers of %s', async (_, fake) => {
  const locks = createLocks(memoryStore());
  await locks.mutex('before').run(() => {});
  fake();
  await handOn(locks);
});
