import type { Clock, Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { claimOf, enter, within } from './member-stores.ts';

describe('what no quorum can promise', () => {
  it.each([
    ['a bare majority', true],
    ['all members', false],
  ])('a hold by %s, when the clock of one steps forward', async (_, bare) => {
    const clock = new FakeClock();
    const ahead = [0, 0, 0];
    const memories = ahead.map((_ms, i) =>
      memoryStore({ clock: { ...parts(clock), now: () => clock.now() + (ahead[i] ?? 0) } }),
    );
    let down = bare;
    const first = aroundStore(memories[0] as Store, async (_request, next) => {
      if (down) throw new Error('The connection broke.');
      return next();
    });
    const store = quorum([first, ...memories.slice(1)], { clock });
    const [a, b] = [claimOf(), claimOf()];
    const held = await enter(store, a);
    down = false;
    ahead[1] = 60_000;
    const next = await within(clock, 100, enter(store, b));
    // Nobody told the holder, whose lease has seconds to go.
    expect(held).toMatchObject({ state: 'held', leftMs: 10_000 });
    expect(next.state).toBe(bare ? 'held' : 'waiting');
    // The fence still tells them apart.
    if (held.state === 'held' && next.state === 'held') {
      expect(next.token).toBeGreaterThan(held.token);
    }
  });
});

/** A clock's methods, to be mixed with others. */
function parts(clock: FakeClock): Clock {
  return {
    now: clock.now,
    random: clock.random,
    setTimeout: (run, ms) => clock.setTimeout(run, ms),
    clearTimeout: (timer) => clock.clearTimeout(timer),
    setImmediate: (run) => clock.setImmediate(run),
  };
}
