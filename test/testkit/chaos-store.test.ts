import { StoreError } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import type { Claim } from 'holdfast/store';
import type { Weather } from 'holdfast/testkit';
import { answered, aroundStore, chaosStore, countingStore, simulatedClock } from 'holdfast/testkit';
import { describe, expect, it } from 'vitest';

const BUSY = new StoreError('Busy.', { retryable: true, outcome: 'failed' });

const CALM: Partial<Weather> = { ...answered, duplicate: 0, lateHint: 0 };

function claim(id: string, over: Partial<Claim> = {}): Claim {
  const holder = { host: 'test', pid: 1, since: 0 };
  return {
    ...{ resource: 'a', id, kind: 'mutex', permits: 1, limit: 1, ttlMs: 60_000, queue: true },
    holder,
    ...over,
  };
}

function world(weather: Partial<Weather>, seed = 1) {
  const clock = simulatedClock(seed);
  const memory = memoryStore({ clock, quarantine: 0 });
  const near = countingStore(memory);
  const far = chaosStore(near, { clock, ...weather });
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.setTimeout(resolve, ms));
  /** What a request came to, if it came to anything within a minute. */
  const outcome = <T>(request: Promise<T>): Promise<T | string> => {
    const error = (reason: unknown): string => String((reason as { outcome?: string }).outcome);
    return Promise.race([request.catch(error), sleep(60_000).then(() => 'silence')]);
  };
  return { clock, memory, near, far, sleep, outcome };
}

describe('chaosStore', () => {
  it('says what it is: the store behind it, but never synchronous', () => {
    const { memory, far } = world({});
    expect(far.name).toBe('memory');
    expect(far.traits).toEqual({ ...memory.traits, synchronous: false });
  });

  it('takes the same course for the same seed, and another one for another', async () => {
    const course = async (seed: number): Promise<string> => {
      const { clock, far, outcome } = world({}, seed);
      const told = Array.from({ length: 40 }, async (_, i) => {
        const result = await outcome(far.claim([claim(`id ${i}`)]));
        return `${i} ${typeof result === 'string' ? result : result[0]?.state} ${clock.now()}`;
      });
      return (await Promise.all(told)).join('\n');
    };
    expect(await course(7)).toBe(await course(7));
    expect(await course(7)).not.toBe(await course(8));
  });

  it.each([
    ['requests', { loseRequest: 1 }, 0],
    ['answers', { loseAnswer: 1 }, 1],
  ] as const)('loses %s, in silence or with an unknown outcome', async (_, weather, arrived) => {
    for (const [broken, told] of [
      [0, 'silence'],
      [1, 'unknown'],
    ] as const) {
      const { near, far, outcome } = world({ ...CALM, ...weather, broken });
      expect(await outcome(far.claim([claim('x')]))).toBe(told);
      expect([near.count('claim').requests, near.total()]).toEqual([arrived, arrived]);
    }
  });

  it('refuses requests that never arrive', async () => {
    const { near, far, sleep, outcome } = world({ ...CALM, refuse: 1 });
    expect(await outcome(far.claim([claim('x')]))).toBe('failed');
    await sleep(60_000);
    expect(near.total()).toBe(0);
  });

  it('answers late, whether the request or the answer was slow', async () => {
    const arrivals = new Set<string>();
    for (let seed = 1; seed <= 10; seed++) {
      const { clock, near, far } = world({ ...CALM, late: 1, lateMs: [500, 500] }, seed);
      const since = clock.now();
      const seen: number[] = [];
      const timed = aroundStore(near, (_, next) => {
        seen.push(clock.now() - since);
        return next();
      });
      await chaosStore(timed, { clock, ...CALM, late: 1, lateMs: [500, 500] }).claim([claim('x')]);
      expect(clock.now() - since).toBeGreaterThanOrEqual(500);
      arrivals.add((seen[0] ?? 0) >= 500 ? 'slow request' : 'slow answer');
      await far.close?.();
    }
    expect(arrivals).toEqual(new Set(['slow request', 'slow answer']));
  });

  it('lets requests overtake each other', async () => {
    const orders = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      const { memory, far } = world(CALM, seed);
      await Promise.all([far.claim([claim('x')]), far.claim([claim('y')])]);
      const [first] = await memory.claim([claim('x')]);
      orders.add(first?.state ?? '');
    }
    expect(orders).toEqual(new Set(['held', 'waiting']));
  });

  it('sends copies, and answers when both have arrived', async () => {
    const { near, far } = world({ ...CALM, duplicate: 1 });
    const [status] = await far.claim([claim('x')]);
    expect([status?.state, near.count('claim').requests]).toEqual(['held', 2]);
    expect(await far.release([claim('x')])).toEqual([true]);
    expect(near.count('release').requests).toBe(2);
  });

  it('answers only when no copy can arrive any more, also if one of them fails', async () => {
    const { clock, near } = world({});
    let calls = 0;
    const once = aroundStore(near, (_, next) => (calls++ === 0 ? Promise.reject(BUSY) : next()));
    const far = chaosStore(once, { clock, ...CALM, duplicate: 1 });
    expect(await far.claim([claim('x')])).toMatchObject([{ state: 'held' }]);
  });

  it('lets a copy of what went unanswered arrive later', async () => {
    const weather = { ...CALM, loseAnswer: 1, duplicate: 1, broken: 1 };
    const { near, far, sleep, outcome } = world(weather);
    expect(await outcome(far.claim([claim('x')]))).toBe('unknown');
    expect(near.count('claim').requests).toBe(1);
    await sleep(6_000);
    expect(near.count('claim').requests).toBe(2);
  });

  it('bears that the store fails for a copy that nobody waits for', async () => {
    const { clock, near, outcome } = world({});
    const dead = aroundStore(near, () => Promise.reject(new Error('closed')));
    const far = chaosStore(dead, { clock, ...CALM, loseAnswer: 1, duplicate: 1, broken: 0 });
    expect(await outcome(far.claim([claim('x')]))).toBe('silence');
  });

  it('loses hints, or brings them late, and none after the subscription has ended', async () => {
    const hints = async (weather: Partial<Weather>, endAfterMs = 60_000): Promise<number[]> => {
      const { clock, far, sleep } = world({ ...CALM, ...weather });
      const told: number[] = [];
      const start = clock.now();
      await far.claim([claim('x')]);
      const subscription = await far.watch?.(claim('y'), () => told.push(clock.now() - start));
      await far.claim([claim('y')]);
      await far.release([claim('x')]);
      await sleep(endAfterMs);
      await subscription?.[Symbol.asyncDispose]();
      await sleep(60_000);
      return told;
    };
    expect(await hints({ loseHint: 1 })).toEqual([]);
    expect(await hints({ loseHint: 0 })).toHaveLength(1);
    const [late] = await hints({ loseHint: 0, lateHint: 1, lateMs: [9_000, 9_000] });
    expect(late).toBeGreaterThanOrEqual(9_000);
    expect(await hints({ loseHint: 0, lateHint: 1, lateMs: [9_000, 9_000] }, 100)).toEqual([]);
  });

  it('answers subscriptions in turn', async () => {
    const { far } = world(CALM);
    const order: number[] = [];
    const all = Array.from({ length: 20 }, async (_, i) => {
      await far.watch?.(claim(`id ${i}`), () => {});
      order.push(i);
    });
    await Promise.all(all);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('knows the lineage of the message last received', async () => {
    const { memory, far } = world(CALM);
    await far.claim([claim('x')]);
    const before = memory.lineage;
    memory.forget();
    expect(memory.lineage).not.toBe(before);
    expect(far.lineage).toBe(before);
    await far.claim([claim('x')]);
    expect(far.lineage).toBe(memory.lineage);
  });

  it('changes its weather', async () => {
    const { far, outcome } = world({ ...CALM, refuse: 1 });
    expect(await outcome(far.claim([claim('x')]))).toBe('failed');
    far.change({ refuse: 0 });
    expect(await outcome(far.claim([claim('x')]))).toMatchObject([{ state: 'held' }]);
  });

  it('answers everything soon in the weather that is called so', async () => {
    const { clock, far } = world(answered);
    const all = Array.from({ length: 200 }, async (_, i) => {
      const start = clock.now();
      await far.claim([claim(`id ${i}`, { resource: `r ${i}` })]);
      // There, once more for the copy, and back.
      expect(clock.now() - start).toBeLessThanOrEqual(30);
    });
    await Promise.all(all);
  });
});
