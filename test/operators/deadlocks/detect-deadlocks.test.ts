/** Deadlocks between tasks of several programs, and what looks like one and is none. */
import { allOf, createLocks, type DeadlockError, detectDeadlocks, holding } from 'holdfast';
import { createElection } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect, it } from 'vitest';
import { outcomes, type Program, World } from './bed.ts';

function toldOf(programs: readonly Program[]): number[] {
  return programs.map(({ told }) => told.length);
}

describe('a deadlock', () => {
  it('of two is told to both, once, and nobody is rejected for it', async () => {
    const world = new World();
    const all = world.programs(2);
    const ends = await outcomes(world.ring(all, 20_000));
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
    const ends = await outcomes(works);
    expect(ends).toEqual([...Array.from({ length: count - 1 }, (_, i) => i), 'DEADLOCK']);
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

  it('is found among hundreds of waits that are none', async () => {
    const world = new World();
    const all = world.programs(2, { onDeadlock: 'reject' });
    const [{ locks }] = all as [Program];
    const busy = world.program('busy').locks;
    const ends = new AbortController();
    const crowd = Array.from({ length: 300 }, async (_, i) => {
      const wanted = await busy.mutex(`wanted ${i}`).acquire();
      const wait = locks.mutex(`own ${i}`).run(async () => {
        // All are due for one look, with those of the ring.
        await world.clock.sleep(100);
        return locks.mutex(`wanted ${i}`).run({ signal: ends.signal }, () => i);
      });
      await wait.catch(() => {});
      await wanted.release();
    });
    expect(await outcomes(world.ring(all))).toEqual([0, 'DEADLOCK']);
    ends.abort();
    await outcomes(crowd);
  });

  it('between tasks of one program ends in the same way', async () => {
    const world = new World();
    const one = world.program('p', { onDeadlock: 'reject' });
    expect(await outcomes(world.ring([one, one, one]))).toEqual([0, 1, 'DEADLOCK']);
    expect(one.told).toHaveLength(3);
  });

  it('rejects the youngest of those that may be rejected', async () => {
    const world = new World();
    const all = [
      world.program('p0'),
      world.program('p1', { onDeadlock: 'reject' }),
      world.program('p2'),
    ];
    expect(await outcomes(world.ring(all))).toEqual([0, 'DEADLOCK', 2]);
  });

  it('of tasks that each hold a permit and want one more', async () => {
    const world = new World();
    const all = world.programs(2, { onDeadlock: 'reject' });
    const works = all.map(({ locks }, i) => {
      const semaphore = locks.semaphore('s', { limit: 2 });
      return semaphore.run(async () => {
        await world.clock.sleep(100 + i);
        return semaphore.run(() => i);
      });
    });
    expect(await outcomes(works)).toEqual([0, 'DEADLOCK']);
  });

  it('of a writer and one of the readers that it waits for', async () => {
    const world = new World();
    const [reader, writer] = world.programs(2, { onDeadlock: 'reject' }) as [Program, Program];
    const other = world.program('other');
    const works = [
      reader.locks.rwLock('r').read.run(async () => {
        await world.clock.sleep(100);
        return reader.locks.mutex('a').run(() => 'read');
      }),
      writer.locks.mutex('a').run(async () => {
        await world.clock.sleep(200);
        return writer.locks.rwLock('r').write.run(() => 'written');
      }),
      other.locks.rwLock('r').read.run(() => world.clock.sleep(500)),
    ];
    expect(await outcomes(works)).toEqual(['read', 'DEADLOCK', undefined]);
  });

  it('of one that takes several locks at once', async () => {
    const world = new World();
    const [multi, single] = world.programs(2, { onDeadlock: 'reject' }) as [Program, Program];
    const works = [
      single.locks.mutex('b').run(async () => {
        await world.clock.sleep(100);
        return single.locks.mutex('a').run(() => 'single');
      }),
      allOf([multi.locks.mutex('a'), multi.locks.mutex('b')]).run(() => 'multi'),
    ];
    expect(await outcomes(works)).toEqual(['DEADLOCK', 'multi']);
  });

  it('of leases of acquire, if the program says what it holds', async () => {
    const world = new World();
    const all = world.programs(2, { onDeadlock: 'reject' });
    const works = all.map(async ({ locks }, i) => {
      await using lease = await locks.mutex(`m${i}`).acquire();
      await world.clock.sleep(100 + i);
      return await holding([lease], () => locks.mutex(`m${1 - i}`).run(() => i));
    });
    expect(await outcomes(works)).toEqual([0, 'DEADLOCK']);
  });
});

describe('no deadlock is', () => {
  it('a chain that ends with a task that works', async () => {
    const world = new World();
    const all = world.programs(3, { onDeadlock: 'reject' });
    const [a, b, c] = all as [Program, Program, Program];
    const works = [
      a.locks.mutex('m0').run(() => a.locks.mutex('m1').run(() => 'a')),
      b.locks.mutex('m1').run(() => b.locks.mutex('m2').run(() => 'b')),
      c.locks.mutex('m2').run(() => world.clock.sleep(30_000)),
    ];
    expect(await outcomes(works)).toEqual(['a', 'b', undefined]);
    expect(toldOf(all)).toEqual([0, 0, 0]);
  });

  it('a wait for permits of which one may come free', async () => {
    const world = new World();
    const all = world.programs(3, { onDeadlock: 'reject' });
    const [a, b, free] = all as [Program, Program, Program];
    const of = ({ locks }: Program) => locks.semaphore('s', { limit: 2 });
    const works = [
      of(free).run(() => world.clock.sleep(30_000)),
      of(a).run(async () => {
        await world.clock.sleep(100);
        return a.locks.mutex('m').run(() => 'a');
      }),
      b.locks.mutex('m').run(async () => {
        await world.clock.sleep(200);
        return of(b).run(() => 'b');
      }),
    ];
    expect(await outcomes(works)).toEqual([undefined, 'a', 'b']);
    expect(toldOf(all)).toEqual([0, 0, 0]);
  });

  it('a ring that one leaves while the others look', async () => {
    const world = new World();
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
      looks.locks.mutex('m1').run(async () => {
        await world.clock.sleep(200);
        return looks.locks.mutex('m0').run(() => 'waited');
      }),
    ];
    expect(await outcomes(works)).toEqual(['left', 'waited']);
    expect(leave.signal.aborted).toBe(true);
    expect(toldOf([stay, looks])).toEqual([0, 0]);
  });

  it('a ring with a program that is dead: its lock ends with its TTL', async () => {
    const world = new World();
    let dead = false;
    const mortal = aroundStore(world.store, (_, next) => (dead ? new Promise(() => {}) : next()));
    const dies = world.program('dies', { onDeadlock: 'reject' }, mortal);
    const lives = world.program('lives', { onDeadlock: 'reject' });
    void dies.locks.mutex('m0').run(async () => {
      await world.clock.sleep(100);
      await dies.locks.mutex('m1').run(() => {});
    });
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
      b.locks.mutex('m1').run(async () => {
        await world.clock.sleep(200);
        return b.locks.mutex('m0').run(() => 'b');
      }),
    ];
    expect(await outcomes(works)).toEqual([undefined, 'b']);
    expect(await apart).toBe('apart');
    expect(toldOf(all)).toEqual([0, 0]);
  });

  it('a candidate that stands by', async () => {
    const world = new World();
    const all = world.programs(2, { onDeadlock: 'reject' });
    const [a, b] = all as [Program, Program];
    const works = [
      a.locks.mutex('m').run(async () => {
        await world.clock.sleep(100);
        const candidate = createElection(a.locks, 'e').campaign();
        await world.clock.sleep(20_000);
        await candidate.resign();
      }),
      b.locks.semaphore('e', { limit: 1 }).run(async () => {
        await world.clock.sleep(200);
        return b.locks.mutex('m').run(() => 'b');
      }),
    ];
    expect(await outcomes(works)).toEqual([undefined, 'b']);
    expect(toldOf(all)).toEqual([0, 0]);
  });
});

describe('it is refused', () => {
  it('twice, on a store without queues, and with wrong options', () => {
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
});
