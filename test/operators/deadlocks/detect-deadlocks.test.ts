/** Deadlocks between tasks of several programs, and what looks like one and is none. */
import { allOf, createLocks, type DeadlockError, detectDeadlocks, holding } from 'holdfast';
import { createElection } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect } from 'vitest';
import { it, outcomes, type Program, World } from './bed.ts';

const toldOf = (programs: readonly Program[]): number[] => programs.map(({ told }) => told.length);

describe('a deadlock', () => {
  it('of two is told to both, once, and nobody is rejected for it', async ({ world }) => {
    const all = world.programs(2);
    const ends = await outcomes(world.ring(all, { wait: 20_000 }));
    expect(ends).toContain('ACQUIRE_TIMEOUT');
    expect(ends).not.toContain('DEADLOCK');
    expect(toldOf(all)).toEqual([1, 1]);
    const [event] = all[0]?.told ?? [];
    expect(event).toMatchObject({ resource: 'm1', kind: 'mutex', victim: undefined });
    expect(event?.cycle).toMatchObject([
      { resource: 'm1', holds: [{ resource: 'm0', permits: 1 }], holder: { label: 'p0' } },
      { resource: 'm0', holds: [{ resource: 'm1', permits: 1 }], holder: { label: 'p1' } },
    ]);
    expect(event?.waitedMs).toBeLessThan(10_000);
  });

  it.each([2, 3, 7])('of %i ends with the youngest, after all were told', async (count) => {
    const world = new World();
    const all = world.programs(count, { onDeadlock: 'reject' });
    const works = world.ring(all);
    expect(await outcomes(works)).toEqual([...Array(count - 1).fill('done'), 'DEADLOCK']);
    expect(toldOf(all)).toEqual(all.map(() => 1));
    const error = await (works.at(-1) as Promise<unknown>).catch((thrown) => thrown);
    const { cycle, message, resource } = error as DeadlockError;
    expect(cycle.map((wait) => wait.resource)).toEqual(
      all.map((_, i) => `m${(count + i) % count}`),
    );
    expect(resource).toBe('m0');
    expect(message).toContain(`holds "m${count - 1}" and waits for "m0"; p0 on `);
    expect(all[0]?.told[0]?.victim?.id).toBe(cycle[0]?.id);
  });

  it('is found among hundreds of waits that are none', async ({ world }) => {
    const all = world.programs(2, { onDeadlock: 'reject' });
    const [{ locks }] = all as [Program];
    const busy = world.program('busy').locks;
    const ends = new AbortController();
    const crowd = Array.from({ length: 300 }, async (_, i) => {
      const wanted = await busy.mutex(`wanted ${i}`).acquire();
      // All are due for one look, with those of the ring.
      const [own, other] = [locks.mutex(`own ${i}`), locks.mutex(`wanted ${i}`)];
      await world.nest(own, 100, other, { signal: ends.signal }).catch(() => {});
      await wanted.release();
    });
    expect(await outcomes(world.ring(all))).toEqual(['done', 'DEADLOCK']);
    ends.abort();
    await outcomes(crowd);
  });

  it('between tasks of one program ends in the same way', async ({ world }) => {
    const one = world.program('p', { onDeadlock: 'reject' });
    expect(await outcomes(world.ring([one, one, one]))).toEqual(['done', 'done', 'DEADLOCK']);
    expect(one.told).toHaveLength(3);
  });

  it('rejects the youngest of those that may be rejected', async ({ world }) => {
    const rejects = world.program('p1', { onDeadlock: 'reject' });
    const all = [world.program('p0'), rejects, world.program('p2')];
    expect(await outcomes(world.ring(all))).toEqual(['done', 'DEADLOCK', 'done']);
  });

  it('of tasks that each hold a permit and want one more', async ({ world }) => {
    const all = world.programs(2, { onDeadlock: 'reject' });
    const works = all.map(({ locks }, i) => {
      const semaphore = locks.semaphore('s', { limit: 2 });
      return world.nest(semaphore, 100 + i, semaphore);
    });
    expect(await outcomes(works)).toEqual(['done', 'DEADLOCK']);
  });

  it('of a writer and one of the readers that it waits for', async ({ world }) => {
    const [reader, writer] = world.programs(2, { onDeadlock: 'reject' }) as [Program, Program];
    const other = world.program('other');
    const works = [
      world.nest(reader.locks.rwLock('r').read, 100, reader.locks.mutex('a')),
      world.nest(writer.locks.mutex('a'), 200, writer.locks.rwLock('r').write),
      other.locks.rwLock('r').read.run(() => world.clock.sleep(500)),
    ];
    expect(await outcomes(works)).toEqual(['done', 'DEADLOCK', undefined]);
  });

  it('of one that takes several locks at once', async ({ world }) => {
    const [multi, single] = world.programs(2, { onDeadlock: 'reject' }) as [Program, Program];
    const works = [
      world.nest(single.locks.mutex('b'), 100, single.locks.mutex('a')),
      allOf([multi.locks.mutex('a'), multi.locks.mutex('b')]).run(() => 'multi'),
    ];
    expect(await outcomes(works)).toEqual(['DEADLOCK', 'multi']);
  });
});

describe('no deadlock is', () => {
  it('a ring that one leaves while the others look', async ({ world }) => {
    const stay = world.program('stays', { onDeadlock: 'reject' });
    const leave = new AbortController();
    // It leaves when the other has read that it waits.
    const watched = aroundStore(world.store, async ({ verb }, next) => {
      const reply = await next();
      if (verb === 'inspect' && (reply as unknown as { holders: unknown[] }).holders.length > 0) {
        leave.abort(new Error('left'));
      }
      return reply;
    });
    const looks = world.program('looks', { onDeadlock: 'reject' }, watched);
    const works = [
      stay.locks.mutex('m0').run(async () => {
        await world.clock.sleep(100);
        await stay.locks
          .mutex('m1')
          .run({ signal: leave.signal }, () => 0)
          .catch(() => {});
        await world.clock.sleep(20_000);
        return 'left';
      }),
      world.nest(looks.locks.mutex('m1'), 200, looks.locks.mutex('m0')),
    ];
    expect(await outcomes(works)).toEqual(['left', 'done']);
    expect(leave.signal.aborted).toBe(true);
    expect(toldOf([stay, looks])).toEqual([0, 0]);
  });

  it('a ring with a program that is dead: its lock ends with its TTL', async ({ world }) => {
    let dead = false;
    const mortal = aroundStore(world.store, (_, next) => (dead ? new Promise(() => {}) : next()));
    const dies = world.program('dies', { onDeadlock: 'reject' }, mortal);
    const lives = world.program('lives', { onDeadlock: 'reject' });
    void world.nest(dies.locks.mutex('m0'), 100, dies.locks.mutex('m1'));
    const work = lives.locks.mutex('m1').run(async () => {
      await world.clock.sleep(1_500);
      dead = true;
      return lives.locks.mutex('m0').run(() => 'alive');
    });
    expect(await outcomes([work])).toEqual(['alive']);
    expect(toldOf([dies, lives])).toEqual([0, 0]);
  });

  it('a wait that the work around it does not wait for, if the program says so', async () => {
    const world = new World();
    const all = world.programs(2, { onDeadlock: 'reject' });
    const [a, b] = all as [Program, Program];
    let apart: Promise<unknown> | undefined;
    const works = [
      a.locks.mutex('m0').run(async () => {
        await world.clock.sleep(100);
        apart = holding([], () => a.locks.mutex('m1').run(() => 'apart'));
        await world.clock.sleep(20_000);
      }),
      world.nest(b.locks.mutex('m1'), 200, b.locks.mutex('m0')),
    ];
    expect(await outcomes(works)).toEqual([undefined, 'done']);
    expect(await apart).toBe('apart');
    expect(toldOf(all)).toEqual([0, 0]);
  });

  it('a candidate that stands by', async ({ world }) => {
    const all = world.programs(2, { onDeadlock: 'reject' });
    const [a, b] = all as [Program, Program];
    const works = [
      a.locks.mutex('m').run(async () => {
        await world.clock.sleep(100);
        const candidate = createElection(a.locks, 'e').campaign();
        await world.clock.sleep(20_000);
        await candidate.resign();
      }),
      world.nest(b.locks.semaphore('e', { limit: 1 }), 200, b.locks.mutex('m')),
    ];
    expect(await outcomes(works)).toEqual([undefined, 'done']);
    expect(toldOf(all)).toEqual([0, 0]);
  });
});

it('it is refused twice, on a store without queues, and with wrong options', () => {
  const locks = createLocks(memoryStore());
  const stopped = detectDeadlocks(locks);
  stopped();
  const stop = detectDeadlocks(locks);
  stopped();
  expect(() => detectDeadlocks(locks)).toThrow(/already/);
  stop();
  const { traits, ...rest } = aroundStore(memoryStore(), (_, next) => next());
  const bare = { ...rest, traits: { ...traits, tokens: undefined } };
  expect(() => detectDeadlocks(createLocks(bare))).toThrow(/a store that keeps a queue/);
  const wrong = { onDeadlock: 'ignore' } as unknown as { onDeadlock: 'event' };
  expect(() => detectDeadlocks(locks, wrong)).toThrow(/'event' or 'reject'/);
  for (const wrong of [undefined, 'm0'] as never[]) {
    expect(() => holding([wrong], () => 1)).toThrow(/list of leases/);
  }
});
