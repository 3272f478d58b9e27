import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { aroundStore } from 'holdfast/testkit';
import { expect } from 'vitest';
import { FakeClock, partsOf } from '../support/fake-clock.ts';
import { gate } from '../support/gate.ts';
import { type Bed, held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const TTL_MS = 1_000;

type Loss = { readonly dueAt: number; readonly lostAt: number | undefined };

/** It stands still for a while at the nth reading of the clock, and no heartbeat gets through. */
async function lossesAfterStall(names: readonly string[], nth: number): Promise<Loss[]> {
  const clock = new FakeClock();
  const memory = memoryStore({ clock });
  let reads = 0;
  let wokeAt = 0;
  const now = (): number => {
    if (++reads === nth) {
      clock.stall(700);
      wokeAt = clock.now();
    }
    return clock.now();
  };
  const mine = { ...partsOf(clock), now };
  const enteredAt = new Map<string, number>();
  const traits = { ...memory.traits, synchronous: false };
  const far = aroundStore(
    memory,
    ({ verb, claims }, next) => {
      if (verb === 'renew') return new Promise(() => {});
      if (verb === 'claim') for (const { resource } of claims) enteredAt.set(resource, clock.now());
      return next();
    },
    traits,
  );
  const locks = createLocks(far, { clock: mine, ttl: TTL_MS });
  const lostAt = new Map<string, number>();
  locks.on('lost', ({ resource }) => lostAt.set(resource, clock.now()));
  for (const name of names) void locks.mutex(name).acquire();
  await clock.advance(5_000);
  return names.map((name) => {
    const dueAt = Math.max((enteredAt.get(name) ?? 0) + TTL_MS, wokeAt);
    return { dueAt, lostAt: lostAt.get(name) };
  });
}

it.each([[['a']], [['a', 'b', 'c']]])(
  'losses of %s are told before the grant ends or on waking, wherever it stood still',
  async (names) => {
    for (let nth = 1; nth <= 40; nth++) {
      for (const { dueAt, lostAt } of await lossesAfterStall(names, nth)) {
        expect(lostAt, `at reading ${nth}`).toBeLessThanOrEqual(dueAt);
      }
    }
  },
);

it('an answer that came while it stood still is read before it is called late', async () => {
  const clock = new FakeClock();
  const memory = memoryStore({ clock });
  let read = (): void => {};
  const far = aroundStore(
    memory,
    async ({ verb }, next) => {
      if (verb === 'claim') await new Promise<void>((resolve) => (read = resolve));
      return next();
    },
    { ...memory.traits, synchronous: false },
  );
  const acquired = createLocks(far, { clock, ttl: TTL_MS }).mutex('a').tryAcquire();
  await clock.rest();
  // Longer than an answer is waited for; input is read when the timers have had their turn.
  clock.stall(TTL_MS / 2);
  clock.setImmediate(read);
  await clock.rest();
  expect((await acquired)?.held).toBe(true);
});

for (const [what, sleep] of [
  ['this process stood still for most of the TTL', ({ clock }) => clock.stall(9_000)],
  ['the clock may have stood still', ({ clock }) => clock.jump()],
] as [string, (bed: Bed) => void][]) {
  it(`the reply to a claim grants nothing if ${what} before it came`, async ({ bed }) => {
    const { clock, store, locks } = bed;
    const reply = gate();
    store.onClaim = () => reply.opened.then(() => held());
    const acquired = watchOutcome(locks.mutex('a').acquire());
    await clock.advance(100);
    sleep(bed);
    store.onClaim = () => held({ token: 2n });
    reply.open();
    await clock.rest();
    expect(acquired.done).toBe(false);
    await clock.advance(25);
    const [first, second] = store.entered;
    expect(store.sent('release').map(({ claims }) => claims[0]?.id)).toEqual([first?.id]);
    expect(second?.id).not.toBe(first?.id);
    expect(acquired.value?.token).toBe(2n * 1024n);
  });
}

it('a lease is passed on to no task here once the clock may have stood still', async ({ bed }) => {
  const mutex = bed.locks.mutex('a');
  const first = await mutex.acquire();
  const second = watchOutcome(mutex.acquire());
  await bed.clock.advance(100);
  bed.clock.jump();
  void first.release();
  await bed.clock.rest();
  expect(second.value?.token).toBe(2n * 1024n);
  expect(bed.store.sent('renew')).toEqual([]);
});

it('a lease that ended while listeners of `released` ran is passed on to no task', async () => {
  const { clock, locks } = setUp();
  const mutex = locks.mutex('a');
  const first = await mutex.acquire();
  const second = watchOutcome(mutex.acquire());
  locks.on('released', () => clock.stall(20_000));
  await Promise.all([first.release(), clock.rest()]);
  expect(second.value?.token).toBe(2n * 1024n);
});

it('who waits asks at once if the clock may have stood still, and confirms nothing', async () => {
  const { clock, store, locks } = setUp();
  store.onClaim = store.onRenew = () => waiting();
  let unconfirmed = 0;
  locks.on('unconfirmed', () => unconfirmed++);
  void locks.mutex('a').acquire();
  await clock.advance(100);
  clock.jump();
  clock.now();
  await clock.rest();
  expect([store.sent('renew').length, unconfirmed]).toEqual([1, 0]);
});

it('a hold that is lost while the next task awaits its turn is claimed anew', async ({ bed }) => {
  const [busy, mutex] = [bed.locks.mutex('busy'), bed.locks.mutex('a')];
  const [first, second] = [await busy.acquire(), await mutex.acquire()];
  const [, last] = [busy, mutex].map((lock) => watchOutcome(lock.acquire()));
  void first.release();
  // This turn of the loop has lasted too long for a second hand-off.
  bed.clock.stall(3);
  void second.release();
  bed.clock.stall(10_000);
  await bed.clock.rest();
  expect(last?.value?.token).toBe(3n * 1024n);
});

it('a lease whose maxHold passes while listeners hear of it is lost at once', async ({ bed }) => {
  const lost: string[] = [];
  bed.locks.on('lost', ({ reason }) => lost.push(reason));
  const mutex = bed.locks.mutex('a', { maxHold: '1s' });
  const first = await mutex.acquire();
  const second = watchOutcome(mutex.acquire());
  bed.locks.on('acquired', () => bed.clock.stall(1_000));
  void first.release();
  expect(lost).toEqual(['max-hold']);
  await bed.clock.rest();
  expect(second.value?.state).toBe('lost');
});
