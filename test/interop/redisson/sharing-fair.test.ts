/** The one queue of a fair lock, in which waiters in Java and of ours stand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeignProgram, type ForeignThread } from '../../methods/sharing/foreign-program.ts';
import { paced } from '../../support/this-run.ts';
import { LONG, RedissonBed, soon, WORLDS } from './bed.ts';

/** Within which a waiter of ours in a program of its own is dead, in ms (own-program.ts). */
const OWN_TTL = paced(1000);

describe.each(WORLDS)('Redisson $version on $program, a fair lock', (world) => {
  let bed: RedissonBed;
  beforeAll(async () => {
    bed = await RedissonBed.start(world);
  });
  afterAll(() => bed.close());

  const waiters = (name: string): Promise<string[]> =>
    bed.client.lrange(`redisson_lock_queue:{${name}}`, 0, -1);
  const ends = async (name: string): Promise<Map<string, number>> => {
    const key = `redisson_lock_timeout:{${name}}`;
    const pairs = await bed.client.zrange(key, '0', '-1', 'WITHSCORES');
    return new Map(pairs.flatMap((one, i) => (i % 2 ? [] : [[one, Number(pairs[i + 1])]])));
  };
  const inLine = (name: string, count: number): Promise<void> =>
    expect.poll(async () => (await waiters(name)).length).toBe(count);
  const take = (thread: ForeignThread, name: string, wait = -1): Promise<boolean> =>
    thread.acquire('fair', name, { wait, lease: LONG });

  /** A thread in Java waits as the last of so many; `passes` once it has had its turn. */
  async function javaWaits(name: string, count: number, wait?: number) {
    const thread = bed.java.thread();
    const got = take(thread, name, wait);
    await inLine(name, count);
    const passes = async (): Promise<void> => {
      expect(await got).toBe(true);
      await thread.release('fair', name);
    };
    return { got, passes };
  }

  /** Behind a holder in Java, a program of ours waits, and Java behind it. */
  async function behindOurs(name: string) {
    const holder = bed.java.thread();
    // Java looks again when the lease is over that it saw: that of a watchdog.
    await holder.acquire('fair', name);
    const own = await ForeignProgram.start(bed.command('own', 'fair'));
    const first = own.thread();
    const late = first.acquire('fair', name);
    late.catch(() => {});
    await inLine(name, 1);
    const java = bed.java.thread();
    const got = soon(java, { kind: 'fair', name, lease: LONG });
    await inLine(name, 2);
    return { holder, own, first, late, java, got };
  }

  it.each(['java', 'own'])('has one order for all, behind a holder of %s', async (whose) => {
    const name = `order behind ${whose}`;
    const holder = bed.java.thread();
    const lease = whose === 'own' ? await bed.ours('fair', name).acquire() : undefined;
    if (!lease) await take(holder, name);
    const order: number[] = [];
    const done: Promise<void>[] = [];
    for (let i = 0; i < 6; i++) {
      const java = bed.java.thread();
      const turn = async (): Promise<void> => {
        if (i % 2) return bed.ours('fair', name).run(() => void order.push(i));
        await take(java, name);
        order.push(i);
        await java.release('fair', name);
      };
      done.push(turn());
      await inLine(name, i + 1);
    }
    // A try of either side passes none of them.
    expect(await bed.ours('fair', name).tryAcquire()).toBeNull();
    expect(await take(bed.java.thread(), name, 0)).toBe(false);
    expect((await bed.fair.inspect(name)).waiters).toHaveLength(6);
    await (lease ? lease.release() : holder.release('fair', name));
    await Promise.all(done);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await waiters(name)).toEqual([]);
    expect(await ends(name)).toEqual(new Map());
  });

  it('has ends of the waiters that are reckoned from each other, as in Java', async () => {
    const name = 'reckoned';
    const holder = await bed.javaHolds('fair', name);
    const free = Date.now() + (await bed.client.pttl(name));
    const first = await javaWaits(name, 1, 100_000);
    const ours = bed.ours('fair', name, 50_000).acquire();
    await inLine(name, 2);
    const last = await javaWaits(name, 3, 100_000);
    const left = async (): Promise<number[]> => {
      const all = await ends(name);
      const line = await waiters(name);
      return line.map((one) => Math.round(((all.get(one) ?? 0) - free) / 10_000));
    };
    expect(await left()).toEqual([10, 15, 25]);
    await holder.release('fair', name);
    expect(await first.got).toBe(true);
    expect(await left()).toEqual([5, 15]);
    await first.passes();
    const lease = await ours;
    expect(await left()).toEqual([10]);
    await lease.release();
    await last.passes();
  });

  it('that a waiter of ours no longer wants is as if it had never waited', async () => {
    const name = 'given up';
    const holder = await bed.javaHolds('fair', name);
    const giveUp = new AbortController();
    const ours = bed.ours('fair', name).acquire({ signal: giveUp.signal });
    await inLine(name, 1);
    const java = await javaWaits(name, 2, 10_000);
    giveUp.abort();
    await expect(ours).rejects.toThrow();
    await inLine(name, 1);
    const [end = 0] = (await ends(name)).values();
    expect(end - Date.now()).toBeLessThan(LONG + 10_000 + 1000);
    await holder.release('fair', name);
    await java.passes();
  });

  it('goes to Java soon after the first waiter, of ours, is killed', async () => {
    const name = 'ours killed';
    const { holder, own, java, got } = await behindOurs(name);
    await own.kill();
    await holder.release('fair', name);
    expect(await got).toBe(true);
    await java.release('fair', name);
  });

  it('goes to ours after the first waiter, in Java, is killed', async () => {
    const name = 'java killed';
    const holder = await bed.ours('fair', name, 3 * OWN_TTL).acquire();
    const killed = await ForeignProgram.start(bed.command('java', 'fair'));
    killed
      .thread()
      .acquire('fair', name, { wait: 4000 })
      .catch(() => {});
    await inLine(name, 1);
    const ours = bed.ours('fair', name, 3 * OWN_TTL).acquire();
    await inLine(name, 2);
    await killed.kill();
    await holder.release();
    await (await ours).release();
    expect(await waiters(name)).toEqual([]);
  });

  it('passes over a waiter of ours that stands still, which waits again afterwards', async () => {
    const name = 'ours stopped';
    const { holder, own, first, late, java, got } = await behindOurs(name);
    own.pause();
    await holder.release('fair', name);
    expect(await got).toBe(true);
    own.resume();
    await inLine(name, 1);
    await java.release('fair', name);
    expect(await late).toBe(true);
    await first.release('fair', name);
    await own.close();
  });

  it('gives a waiter of ours its place back that Java took for dead', async () => {
    const name = 'taken for dead';
    const holder = await bed.javaHolds('fair', name);
    const first = await javaWaits(name, 1);
    const ours = bed.ours('fair', name, 6 * OWN_TTL).acquire();
    await inLine(name, 2);
    const [, place = ''] = await waiters(name);
    await holder.release('fair', name);
    expect(await first.got).toBe(true);
    // As after a long hold: its end has come, and the next script in Java takes it out.
    await bed.client.zadd(`redisson_lock_timeout:{${name}}`, 1, place);
    const last = await javaWaits(name, 2);
    expect((await waiters(name))[0]).toBe(place);
    await first.passes();
    const lease = await ours;
    await inLine(name, 1);
    await lease.release();
    await last.passes();
  });

  it('has no waiter in Java that is taken for dead because ours waited before it', async () => {
    const name = 'long wait';
    const ttl = 3 * OWN_TTL;
    const holder = await bed.ours('fair', name, ttl).acquire();
    const ours = bed.ours('fair', name, ttl).acquire();
    await inLine(name, 1);
    const java = await javaWaits(name, 2, 30_000);
    const [first = '', second = ''] = await waiters(name);
    const before = await ends(name);
    const moved = async (one: string): Promise<number> =>
      ((await ends(name)).get(one) ?? 0) - (before.get(one) ?? 0);
    await expect.poll(() => moved(first)).toBeGreaterThan(0);
    expect(await moved(second)).toBeGreaterThan(0);
    await holder.release();
    await (await ours).release();
    await java.passes();
  });

  it('passes over a first waiter without an end, which Java would wait for for ever', async () => {
    const name = 'without an end';
    const lease = await bed.ours('fair', name).acquire();
    await bed.client.rpush(`redisson_lock_queue:{${name}}`, 'lost:1');
    const ours = bed.ours('fair', name).acquire();
    await lease.release();
    await (await ours).release();
    expect(await waiters(name)).toEqual([]);
  });
});
