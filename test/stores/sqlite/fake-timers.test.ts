/** A test of an app that fakes timers goes on getting locks of a file. */
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { afterEach, expect, it } from 'vitest';
import { thisMachine } from '../../../src/clients/sqlite/machine.ts';
import { FAKES, handOn, realTimers } from '../../support/fake-timers.ts';
import { newFile } from './bed.ts';

afterEach(realTimers);

it.each(FAKES)('locks in a file go on under the fake timers of %s', async (_, fake) => {
  const file = newFile();
  const locks = createLocks(sqliteStore(file));
  // As another process would: it has a connection and a wake file of its own.
  const others = createLocks(sqliteStore(file));
  await others.mutex('before').run(() => {});
  const before = thisMachine.nowUs();
  fake();
  // Processes that fake nothing read the same clock.
  expect(thisMachine.nowUs()).toBeGreaterThan(before);
  await handOn(locks);
  const lease = await locks.mutex('a').acquire();
  const next = others.mutex('a').acquire();
  for (let waiters = 0, looks = 0; waiters === 0 && looks < 1_000; looks++) {
    waiters = (await locks.inspect('a')).waiters.length;
  }
  await lease.release();
  await (await next).release();
  await Promise.all([locks.close(), others.close()]);
});
