import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { aroundStore } from 'holdfast/testkit';
import { expect, it } from 'vitest';
import { FakeClock } from './fake-clock.ts';

const TTL_MS = 1_000;

/** It stands still for a while at the nth reading of the clock, and no heartbeat gets through. */
async function lossAfterStall(nth: number): Promise<{ dueAt: number; lostAt: number }> {
  const clock = new FakeClock();
  const memory = memoryStore({ clock });
  const mine = new FakeClock();
  let reads = 0;
  let wokeAt = 0;
  const now = (): number => {
    if (++reads === nth) {
      clock.stall(700);
      wokeAt = clock.now();
    }
    return clock.now();
  };
  Object.assign(mine, { now, setTimeout: clock.setTimeout.bind(clock) });
  Object.assign(mine, { clearTimeout: clock.clearTimeout.bind(clock) });
  Object.assign(mine, { setImmediate: clock.setImmediate.bind(clock) });
  let enteredAt = 0;
  const traits = { ...memory.traits, synchronous: false };
  const far = aroundStore(
    memory,
    ({ verb }, next) => {
      if (verb === 'renew') return new Promise(() => {});
      if (verb === 'claim') enteredAt = clock.now();
      return next();
    },
    traits,
  );
  const locks = createLocks(far, { clock: mine, ttl: TTL_MS });
  let lostAt = Number.POSITIVE_INFINITY;
  locks.on('lost', () => {
    lostAt = clock.now();
  });
  void locks.mutex('a').acquire();
  await clock.advance(5_000);
  return { dueAt: Math.max(enteredAt + TTL_MS, wokeAt), lostAt };
}

it('a loss is told before the grant ends or on waking, wherever it stood still', async () => {
  for (let nth = 1; nth <= 20; nth++) {
    const { dueAt, lostAt } = await lossAfterStall(nth);
    expect(lostAt, `at reading ${nth}`).toBeLessThanOrEqual(dueAt);
  }
});
