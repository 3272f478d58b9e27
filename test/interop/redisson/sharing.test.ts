/** Locks that Holdfast and the real Redisson share, on one server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { crowdedTrial, trial } from '../../methods/sharing/trial.ts';
import { LONG, PATIENCE_MS, RedissonBed, soon, WATCHDOG_MS, WORLDS } from './bed.ts';

/** What excludes one holder from another, both ways. */
const KINDS = ['mutex', 'fair', 'write', 'permit'] as const;

describe.each(WORLDS)('Redisson $version on $program', (world) => {
  let bed: RedissonBed;
  beforeAll(async () => {
    bed = await RedissonBed.start(world);
  });
  afterAll(() => bed.close());

  it('is the version that it is said to be', async () => {
    expect(await bed.java.version()).toBe(world.version);
  });

  describe.concurrent.each(KINDS)('as %s', (kind) => {
    const name = (what: string): string => `${kind} ${what}`;
    const ready = async (lock: string): Promise<string> => {
      if (kind === 'permit') await bed.java.thread().ask('set-permits', lock, '1');
      return lock;
    };

    it('what one holds, the other does not get', async () => {
      const lock = await ready(name('excludes'));
      const java = bed.java.thread();
      expect(await java.acquire(kind, lock, { wait: 0, lease: LONG })).toBe(true);
      expect(await bed.ours(kind, lock).tryAcquire()).toBeNull();
      await java.release(kind, lock);
      const lease = await bed.ours(kind, lock).tryAcquire();
      expect(lease).not.toBeNull();
      expect(await java.acquire(kind, lock, { wait: 0, lease: LONG })).toBe(false);
      await lease?.release();
      expect(await java.acquire(kind, lock, { wait: 0, lease: LONG })).toBe(true);
      await java.release(kind, lock);
    });

    it('each is woken by the other', async () => {
      const lock = await ready(name('wakes'));
      const java = await bed.javaHolds(kind, lock);
      const order: string[] = [];
      const ours = bed.ours(kind, lock).acquire();
      const got = ours.then(() => order.push('ours'));
      // It is among those who are told of a release.
      await expect.poll(() => bed.listeners(kind, lock)).toBe(1);
      order.push('java released');
      await java.release(kind, lock);
      await got;
      const second = java.acquire(kind, lock, { lease: LONG });
      await bed.javaSleeps(kind, lock);
      order.push('we released');
      await (await ours).release();
      expect(await second).toBe(true);
      expect(order).toEqual(['java released', 'ours', 'we released']);
      await java.release(kind, lock);
    });

    it('a Java program that is killed holds until its lease is over', async () => {
      const lock = await ready(name('java killed'));
      const java = await ForeignProgram.start(bed.command('java', kind));
      const lease = kind === 'permit' ? WATCHDOG_MS : 0;
      expect(await java.thread().acquire(kind, lock, { lease })).toBe(true);
      await java.kill();
      expect(await bed.ours(kind, lock).tryAcquire()).toBeNull();
      const after = await bed.ours(kind, lock).acquire({ wait: PATIENCE_MS });
      await after.release();
    });

    it('a program of ours that is killed holds until its lease is over', async () => {
      const lock = await ready(name('ours killed'));
      const own = await ForeignProgram.start(bed.command('own', kind));
      expect(await own.thread().acquire(kind, lock)).toBe(true);
      await own.kill();
      const java = bed.java.thread();
      expect(await java.acquire(kind, lock, { wait: 0, lease: LONG })).toBe(false);
      expect(await soon(java, { kind, name: lock, lease: LONG })).toBe(true);
      await java.release(kind, lock);
    });

    it('a program of either kind that stands still loses what it held', async () => {
      const lock = await ready(name('stopped'));
      const own = await ForeignProgram.start(bed.command('own', kind));
      const java = await ForeignProgram.start(bed.command('java', kind));
      const [ours, theirs] = [own.thread(), java.thread()];
      const lease = kind === 'permit' ? WATCHDOG_MS : 0;
      await ours.acquire(kind, lock);
      own.pause();
      expect(await soon(theirs, { kind, name: lock, lease })).toBe(true);
      java.pause();
      own.resume();
      expect(await ours.ask('holds', kind, lock)).toBe('false');
      const next = await bed.ours(kind, lock).acquire({ wait: PATIENCE_MS });
      java.resume();
      if (kind !== 'permit') expect(await theirs.ask('holds', kind, lock)).toBe('false');
      // The watchdog, and the release of what is over, leave the next one alone.
      await theirs.release(kind, lock).catch(() => {});
      await ours.release(kind, lock);
      expect(await bed.java.thread().acquire(kind, lock, { wait: 0, lease: LONG })).toBe(false);
      expect(next).toHaveProperty('held', true);
      await next.release();
      await own.kill();
      await java.kill();
    });

    it('waiters of both kinds all get it, one at a time', async () => {
      const lock = await ready(name('crowd'));
      const first = await bed.ours(kind, lock).acquire();
      let inside = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        most = Math.max(most, ++inside);
        await bed.client.ping();
        inside--;
      };
      const theirs = Array.from({ length: 4 }, async () => {
        const java = await bed.javaHolds(kind, lock);
        await work();
        await java.release(kind, lock);
      });
      const ours = Array.from({ length: 4 }, () => bed.ours(kind, lock).run(work));
      await first.release();
      await Promise.all(ours);
      // A writer in Java that leaves is not heard by one that is about to sleep; ours are.
      let waits = kind === 'write';
      const all = Promise.all(theirs).finally(() => (waits = false));
      while (waits) {
        await bed.ours(kind, lock).run(work);
        await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 100))]);
      }
      await all;
      expect(most).toBe(1);
    });
  });

  it.each(['mutex', 'fair', 'write'])(
    'four processes of each side count exactly, as %s',
    async (kind) => {
      const lock = { kind, name: `${kind} trial` };
      const counts = await trial(bed.command('own', kind), bed.command('java', kind), lock);
      for (const times of [...counts.own, ...counts.foreign]) expect(times).toBeGreaterThan(0);
    },
  );

  it('many tasks of one process of ours leave turns to two Java programs', async () => {
    const lock = { kind: 'mutex', name: 'crowded' };
    await crowdedTrial(bed.command('own', 'mutex'), bed.command('java', 'mutex'), lock);
  });
});
