/** What a lock costs that is free and held briefly, and what makes its claim cost more. */
import { createHook } from 'node:async_hooks';
import { type AcquireOptions, createLocks, type LockOptions, type Mutex } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Bed, failure, held, setUp, silence, waiting } from '../support/scripted-store.ts';

const PAIRS = 500;

function mutexInMemory(): Mutex {
  const locks = createLocks(memoryStore());
  onTestFinished(() => locks.close());
  return locks.mutex('a');
}

/** What Node makes for so many of them, one after another. */
async function madeBy(once: () => Promise<unknown>): Promise<(type: string) => number> {
  const made = new Map<string, number>();
  const hook = createHook({ init: (_, type) => void made.set(type, (made.get(type) ?? 0) + 1) });
  // What all locks share, such as the timer of the heartbeat.
  await once();
  hook.enable();
  for (let i = 0; i < PAIRS; i++) await once();
  hook.disable();
  return (type) => made.get(type) ?? 0;
}

/** Of what is made in the background. */
const FEW = PAIRS / 5;

describe('a free lock in memory', () => {
  it('makes four promises from `acquire` to the end of `release`, and nothing else', async () => {
    const mutex = mutexInMemory();
    const made = await madeBy(async () => {
      const lease = await mutex.acquire();
      await lease.release();
    });
    // Two more are of the function, and of its caller.
    expect(made('PROMISE')).toBeLessThan((4 + 2) * PAIRS + FEW);
    for (const type of ['Microtask', 'TickObject', 'Timeout', 'Immediate']) {
      expect(made(type), type).toBeLessThan(FEW);
    }
  });

  it('makes four for `run`, too', async () => {
    const mutex = mutexInMemory();
    const made = await madeBy(() => mutex.run(() => {}));
    expect(made('PROMISE')).toBeLessThan((4 + 1) * PAIRS + FEW);
    expect(made('Microtask')).toBeLessThan(FEW);
  });

  it('is free again before `release` returns', async () => {
    const store = memoryStore();
    const locks = createLocks(store);
    onTestFinished(() => locks.close());
    const lease = await locks.mutex('a').acquire();
    // A turn that has lasted for long would put it off.
    await new Promise((resolve) => setImmediate(resolve));
    const released = lease.release();
    const { holders } = await store.inspect('a');
    expect(holders).toEqual([]);
    await released;
  });

  it('is taken again, whatever a program did to the promise of a release', async () => {
    const mutex = mutexInMemory();
    const lease = await mutex.acquire();
    const released = lease.release();
    void Object.defineProperty(released, 'then', { value: silence, configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(released, 'then'));
    expect(await mutex.tryRun(() => 1)).toEqual({ acquired: true, value: 1 });
  });
});

/** With all timers that its locks share. */
async function warmBed(): Promise<Bed> {
  const bed = setUp();
  await Promise.all([bed.locks.mutex('warm').run(() => 1), bed.clock.rest()]);
  return bed;
}

/** Asks for a lock with these options, of a store that replies so. */
function acquire(
  options: LockOptions = {},
  onClaim?: Bed['store']['onClaim'],
  acquiring?: AcquireOptions,
): (bed: Bed) => void {
  return ({ locks, store }) => {
    if (onClaim) store.onClaim = onClaim;
    void locks.mutex('a', options).acquire(acquiring);
  };
}

const TRIGGERS: readonly [what: string, timers: number, pull: (bed: Bed) => void][] = [
  ['a grant', 0, acquire()],
  ['a grant with less than half of the TTL left', 1, acquire({}, () => held({ leftMs: 4_000 }))],
  ['a grant with maxHold', 1, acquire({ maxHold: '4s' })],
  ['a grant without heartbeats', 1, acquire({ heartbeat: false })],
  ['a reply that it waits', 1, acquire({}, () => waiting({ retryInMs: 2_000 }))],
  ['a failure', 1, acquire({}, () => Promise.reject(failure()))],
  ['a call with `wait`', 1, acquire({}, silence, { wait: '9s' })],
];

describe('the timers of a claim', () => {
  it.each(TRIGGERS)('after %s are %i', async (_, timers, pull) => {
    const bed = await warmBed();
    const before = bed.clock.timers;
    pull(bed);
    await bed.clock.rest();
    expect(bed.clock.timers - before).toBe(timers);
  });

  it('are one after a hint that it waits', async () => {
    const bed = await warmBed();
    acquire({}, () => waiting())(bed);
    await bed.clock.rest();
    const before = bed.clock.timers;
    for (const wake of bed.store.wakes.values()) wake(waiting({ retryInMs: 700 }));
    expect(bed.clock.timers - before).toBe(1);
  });

  it('are one for the deadline, once a heartbeat finds less than half a TTL left', async () => {
    const { clock, locks, store } = await warmBed();
    const lost: string[] = [];
    locks.on('lost', ({ reason }) => lost.push(reason));
    await locks.mutex('a').acquire();
    store.onRenew = silence;
    // Two heartbeats get no reply; the next one would come too late.
    await clock.advance(9_870);
    expect(lost).toEqual([]);
    await clock.advance(20);
    expect(lost).toEqual(['expired']);
  });

  it('are not needed to tell of a loss while listeners of `acquired` ran', async () => {
    const { clock, locks } = await warmBed();
    const lost: string[] = [];
    locks.on('lost', ({ reason }) => lost.push(reason));
    locks.on('acquired', () => clock.stall(20_000));
    await Promise.all([locks.mutex('a').acquire(), clock.rest()]);
    expect(lost).toEqual(['stalled']);
  });

  it.each([{}, { maxHold: 4_000 }, { heartbeat: false }])('end with it: %j', async (options) => {
    const { clock, locks } = await warmBed();
    const before = clock.timers;
    await Promise.all([locks.mutex('a', options).run(() => 1), clock.rest()]);
    expect(clock.timers).toBe(before);
  });
});

it('a release is sent once, though a listener of its loss has released it', async () => {
  const { clock, locks, store } = setUp();
  const lease = await locks.mutex('a').acquire();
  locks.on('lost', () => void lease.release());
  clock.stall(20_000);
  await Promise.all([lease.release(), clock.rest()]);
  expect(store.sent('release').flatMap(({ claims }) => claims)).toHaveLength(1);
});

it('a release shows no secret if listeners of `released` took longer than the lease', async () => {
  const { clock, locks, store } = setUp();
  const lease = await locks.mutex('a').acquire();
  locks.on('released', () => clock.stall(20_000));
  await Promise.all([lease.release(), clock.rest()]);
  const [claim] = store.sent('release')[0]?.claims ?? [];
  expect(claim?.id).toBe(store.entered[0]?.id);
  expect(claim?.secret).toBeUndefined();
});
