/** The steps to a verdict, one by one: who says what when, and what may come between. */
import { type AcquireTimeoutError, downgrade, holding, waitsOf } from 'holdfast';
import { refresh } from 'holdfast/refresh';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect } from 'vitest';
import { noteName } from '../../../src/operators/deadlocks/notes.ts';
import { RESERVED } from '../../../src/operators/list.ts';
import { it, outcomes, type Program, World } from './bed.ts';

const REJECT = { onDeadlock: 'reject' } as const;

describe('a verdict', () => {
  it('is carried out when all have been told, also the one that looks least often', async () => {
    const world = new World();
    const slow = world.program('slow', { ...REJECT, after: '5s' });
    const victim = world.program('victim', REJECT);
    expect(await outcomes(world.ring([slow, victim]))).toEqual(['done', 'DEADLOCK']);
    expect([slow, victim].map(({ told }) => told.length)).toEqual([1, 1]);
  });

  it('comes no more when detection is stopped while it reads', async () => {
    let between = 0;
    for (let last = 1; last <= 12; last++) {
      const world = new World();
      let looks = 0;
      let before: number | undefined;
      const store = aroundStore(world.store, async ({ verb }, next) => {
        const reply = await next();
        if (verb === 'inspect' && ++looks === last) {
          before = program.told.length;
          program.stop();
        }
        return reply;
      });
      const other = world.program('other', REJECT);
      const program: Program = world.program('stops', REJECT, store);
      const [, end] = await outcomes(world.ring([other, program], { wait: 20_000 }));
      if (before === undefined) continue;
      expect(program.told).toHaveLength(before);
      expect(end).not.toBe('DEADLOCK');
      between += before;
    }
    // It was also stopped between its event and its rejection.
    expect(between).toBeGreaterThan(0);
  });

  it('is given when the store comes back, if it fails for a while', async ({ world }) => {
    const awayUntil = 15_000;
    const store = aroundStore(world.store, ({ verb, claims }, next) => {
      const notes =
        verb === 'inspect' || claims.some(({ resource }) => resource.startsWith(RESERVED));
      const away = notes && world.clock.now() < awayUntil;
      return away ? Promise.reject(new Error('away')) : next();
    });
    const all = [world.program('p0', REJECT), world.program('p1', REJECT, store)];
    const works = world.ring(all);
    await world.clock.sleep(awayUntil - 1);
    expect(all.map(({ told }) => told.length)).toEqual([0, 0]);
    expect(await outcomes(works)).toEqual(['done', 'DEADLOCK']);
    expect(all.map(({ told }) => told.length)).toEqual([1, 1]);
  });

  it('is in the error of a wait that runs out', async ({ world }) => {
    const all = world.programs(2);
    const [{ locks, told }] = all as [Program];
    const missed: unknown[] = [];
    locks.on('missed', ({ waiting }) => missed.push(waiting?.cycle));
    const [first] = world.ring(all, { wait: 20_000 }) as [Promise<unknown>];
    const { cycle } = await timedOut(first);
    expect(cycle).toEqual(told[0]?.cycle);
    expect(cycle?.map(({ resource }) => resource)).toEqual(['m1', 'm0']);
    expect(missed).toEqual([cycle]);
  });

  it('is in it also if the detector looks while the error is made', async ({ world }) => {
    const endsAt = 20_100;
    const store = aroundStore(world.store, async ({ verb }, next) => {
      const late = verb === 'inspect' && world.clock.now() >= endsAt;
      // A look comes within 10 s.
      if (late) await world.clock.sleep(10_000);
      return next();
    });
    const all = [world.program('p0', {}, store), world.program('p1')];
    const [first] = await Promise.all(world.ring(all, { wait: 20_000 }).map(timedOut));
    expect([first?.code, first?.cycle]).toEqual(['ACQUIRE_TIMEOUT', all[0]?.told[0]?.cycle]);
    expect(world.clock.now()).toBeGreaterThan(endsAt);
  });

  it('is not in it when another has left the ring', async ({ world }) => {
    const all = world.programs(2);
    const [stays, leaves] = all as [Program, Program];
    const leave = new AbortController();
    stays.locks.on('deadlock', () => leave.abort());
    const left = leaves.locks.mutex('m1').run(async () => {
      await world.clock.sleep(100);
      const { signal } = leave;
      const waits = leaves.locks.mutex('m0').run({ signal }, () => {});
      await waits.catch(() => {});
      await world.clock.sleep(60_000);
    });
    const [m0, m1] = [stays.locks.mutex('m0'), stays.locks.mutex('m1')];
    const error = await timedOut(world.nest(m0, 100, m1, { wait: 40_000 }));
    expect([error.code, error.cycle]).toEqual(['ACQUIRE_TIMEOUT', undefined]);
    expect(leave.signal.aborted).toBe(true);
    await left;
  });
});

function timedOut(work: Promise<unknown>): Promise<AcquireTimeoutError> {
  return work.then(
    () => expect.fail(),
    (error) => error,
  );
}

describe('what a wait holds up', () => {
  /** One that holds a mutex and a write lock, and waits for what another works under. */
  async function waiting() {
    const world = new World();
    const [a, b] = world.programs(2) as [Program, Program];
    const mutex = await a.locks.mutex('m').acquire();
    const write = await a.locks.rwLock('r').write.acquire();
    const busy = b.locks.mutex('busy').run(() => world.clock.sleep(30_000));
    await world.clock.sleep(100);
    const done = holding([mutex, write], () => a.locks.mutex('busy').run(() => {}));
    await world.clock.sleep(3_000);
    const holds = async () => {
      const [wait] = await waitsOf(b.locks);
      return wait?.holds.map(({ resource, permits }) => [resource, permits]).sort();
    };
    return { world, locks: b.locks, mutex, write, holds, done: Promise.all([busy, done]) };
  }

  it('is what it still holds, also if a note was lost at the same time', async () => {
    const { world, locks, mutex, write, holds, done } = await waiting();
    expect(await holds()).toHaveLength(2);
    const [note] = (await world.store.inspect(noteName('r'))).holders;
    await world.store.evict?.(noteName('r'), note?.number ?? 0n, { reason: 'a test', now: true });
    await mutex.release();
    await world.clock.sleep(10_000);
    expect(await holds()).toEqual([['r', expect.any(Number)]]);
    await done;
    await write.release();
    expect(await waitsOf(locks)).toEqual([]);
  });

  it('becomes less when its write lock becomes a read lock', async () => {
    const { world, mutex, write, holds, done } = await waiting();
    await downgrade(write);
    await world.clock.sleep(10_000);
    expect(await holds()).toEqual([
      ['m', 1],
      ['r', 1],
    ]);
    await done;
    await Promise.all([mutex.release(), write.release()]);
  });

  it('are no locks of one that began a refresh, and has left it to others', async ({ world }) => {
    const all = world.programs(2, REJECT);
    const [a, b] = all as [Program, Program];
    const terms = { read: () => undefined, load: () => 'loaded' };
    const loads = refresh(b.locks, 'k', {
      read: () => undefined,
      load: async () => {
        await world.clock.sleep(1_000);
        return b.locks.mutex('m').run(() => 'loaded');
      },
    });
    const leaves = a.locks.mutex('m').run(async () => {
      await world.clock.sleep(100);
      await refresh(a.locks, 'k', { ...terms, wait: 500 }).catch(() => {});
      await world.clock.sleep(20_000);
    });
    await world.clock.sleep(200);
    const stays = refresh(a.locks, 'k', terms);
    expect(await outcomes([loads, leaves, stays])).toEqual(['loaded', undefined, 'loaded']);
    expect(all.map(({ told }) => told.length)).toEqual([0, 0]);
  });
});
