import { createLocks, evict, type Lease, type Store, StoreError, UnsupportedError } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type FromJson, type OnceOptions, once } from 'holdfast/once';
import { describe, expect, expectTypeOf } from 'vitest';
import { watchOutcome } from '../support/scripted-store.ts';
import { it, lost, setUp } from './bed.ts';

const DAY = { keepFor: '1d' } as const;

describe('once', () => {
  it('counts the time from when the work was done', async ({ clock, locks, other }) => {
    const slow = once(locks, 'a', { keepFor: '1m' }, async () => {
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 300_000));
    });
    await clock.advance(300_000);
    await slow;
    await clock.advance(59_000);
    expect(await once(other, 'a', DAY, () => 'anew')).toMatchObject({ state: 'done' });
    await clock.advance(1_000);
    expect(await once(other, 'a', DAY, () => 'anew')).toEqual({ state: 'ran', value: 'anew' });
  });

  it('has keys of its own', async ({ locks }) => {
    await using lease = await locks.mutex('a').acquire();
    expect(lease.held).toBe(true);
    const inside = await once(locks, 'a', DAY, ({ resource }) => resource);
    expect(inside).toEqual({ state: 'ran', value: 'once:a' });
  });

  it('asks the store twice for a key that is done, and not for its lock', async ({ bed }) => {
    await once(bed.locks, 'a', DAY, () => 1);
    const verbs: string[] = [];
    bed.around = ({ verb }, next) => {
      verbs.push(verb);
      return next();
    };
    await once(bed.locks, 'a', DAY, () => 2);
    expect(verbs).toEqual(['recall']);
  });

  it('leaves the key free when a holder dies, and it is done then', async () => {
    const { clock, locks, other, store } = setUp();
    const dead = await createLocks(store, { clock, ttl: '10s', label: 'dead' })
      .mutex('once:a', { heartbeat: false })
      .acquire();
    expect(dead.held).toBe(true);
    const next = watchOutcome(once(other, 'a', DAY, () => 'next'));
    const skipped = await once(locks, 'a', { ...DAY, ifRunning: 'skip' }, () => 'never');
    const holders = [{ holder: { label: 'dead' } }];
    expect(skipped).toMatchObject({ state: 'running', holders });
    await clock.advance(10_100);
    expect(next.value).toEqual({ state: 'ran', value: 'next' });
    const free = await once(locks, 'b', { ...DAY, ifRunning: 'skip' }, () => 'here');
    expect(free).toEqual({ state: 'ran', value: 'here' });
  });

  it('is not done when its lease was lost, and the next one does it', async ({ bed }) => {
    const stalled = watchOutcome(
      once(bed.locks, 'a', DAY, async () => {
        bed.clock.stall(60_000);
        return 'late';
      }),
    );
    await bed.clock.rest();
    expect(stalled.error).toMatchObject({
      ...{ code: 'LEASE_LOST', reason: 'stalled' },
      message: expect.stringContaining('the work is done, but may not be on record'),
    });
    expect(await once(bed.other, 'a', DAY, () => 'next')).toEqual({ state: 'ran', value: 'next' });
  });

  it('that lost its lease and failed as well has its own error as the cause', async ({ bed }) => {
    const failure = new Error('no stock');
    const stalled = watchOutcome(
      once(bed.locks, 'a', DAY, async () => {
        bed.clock.stall(60_000);
        throw failure;
      }),
    );
    await bed.clock.rest();
    expect(stalled.error).toMatchObject({ code: 'LEASE_LOST', reason: 'stalled', cause: failure });
    expect(String(stalled.error)).not.toMatch(/is done/);
  });

  it('says that the work is done when its attempt was evicted, and why it was', async ({ bed }) => {
    const evicted = watchOutcome(
      once(bed.locks, 'a', DAY, async ({ token, resource }) => {
        await evict(bed.other, resource, { token, reason: 'it hangs' });
      }),
    );
    await bed.clock.advance(1_000);
    expect(evicted.error).toMatchObject({
      ...{ code: 'LEASE_LOST', reason: 'evicted' },
      message: expect.stringContaining('it hangs; the work is done, but may not be on record'),
    });
    expect(await once(bed.locks, 'a', DAY, () => 'next')).toEqual({ state: 'ran', value: 'next' });
  });

  it('says that the work is done when its record is refused', async ({ bed }) => {
    const full = { retryable: false, outcome: 'failed' } as const;
    bed.around = ({ verb }, next) => {
      return verb === 'keep' ? Promise.reject(new StoreError('no room', full)) : next();
    };
    const refused = once(bed.locks, 'a', DAY, () => 1);
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'STORE', ...full, resource: 'once:a' },
      message: 'The work is done, but may not be on record: no room',
    });
  });

  it('cannot record what another has done meanwhile', async ({ bed, clock, locks, other }) => {
    let second: unknown;
    bed.around = async ({ verb }, next) => {
      if (verb === 'keep') {
        // The request is on its way for longer than the claim lives.
        clock.stall(60_000);
        second = await once(other, 'a', DAY, () => 'second');
      }
      return next();
    };
    const first = watchOutcome(once(locks, 'a', DAY, () => 'first'));
    await clock.advance(1_000);
    expect(second).toEqual({ state: 'ran', value: 'second' });
    expect(first.error).toMatchObject({ code: 'LEASE_LOST' });
  });

  it('writes its record again when the answer was lost', async () => {
    const bed = setUp({ synchronous: false });
    const { clock, locks } = bed;
    let keeps = 0;
    bed.around = async ({ verb }, next) => {
      const answer = await next();
      if (verb === 'keep' && ++keeps < 3) throw lost();
      return answer;
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(500);
    expect(ran.value).toEqual({ state: 'ran', value: 1 });
    expect(keeps).toBe(3);
  });

  it('has succeeded with its record, whatever becomes of the lease after it', async () => {
    const bed = setUp({ synchronous: false });
    const { clock, locks } = bed;
    bed.around = async ({ verb }, next) => {
      const answer = await next();
      if (verb === 'keep') clock.stall(60_000);
      return answer;
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(1_000);
    expect(ran.value).toEqual({ state: 'ran', value: 1 });
  });

  it('is done if another did it, whatever becomes of the lease that has found it so', async () => {
    const bed = setUp();
    const { clock, locks, other } = bed;
    let recalls = 0;
    bed.around = async ({ verb }, next) => {
      if (verb !== 'recall') return next();
      if (++recalls === 1) {
        const unknown = await next();
        await once(other, 'a', DAY, () => 'other');
        return unknown;
      }
      const known = await next();
      clock.stall(60_000);
      return known;
    };
    const late = watchOutcome(once(locks, 'a', DAY, () => 'late'));
    await clock.advance(1_000);
    expect(late.value).toMatchObject({ state: 'done' });
    expect(recalls).toBe(2);
  });

  it('says so when its record may not be there, with the reason', async () => {
    const bed = setUp({ synchronous: false });
    const { clock, locks } = bed;
    bed.around = ({ verb }, next) => {
      return verb === 'keep' || verb === 'renew' ? Promise.reject(lost()) : next();
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(11_000);
    expect(ran.error).toMatchObject({
      ...{ code: 'LEASE_LOST', cause: { code: 'STORE' } },
      message: expect.stringContaining('the work is done, but may not be on record'),
    });
  });

  it('names what refused its record, if the lease then ended otherwise', async ({ bed }) => {
    bed.around = ({ verb }, next) => (verb === 'keep' ? Promise.reject(lost()) : next());
    const ran = watchOutcome(once(bed.locks, 'a', { ...DAY, maxHold: '2s' }, () => 1));
    await bed.clock.advance(2_500);
    expect(ran.error).toMatchObject({ reason: 'max-hold', cause: { code: 'STORE' } });
  });

  it('says that the work is done when the work itself has released the lease', async ({
    locks,
  }) => {
    const released = once(locks, 'a', DAY, ({ release }) => release());
    const detail = 'the work is done, but may not be on record';
    await expect(released).rejects.toMatchObject({ reason: 'released', detail });
    await expect(released).rejects.not.toHaveProperty('cause');
  });

  it('gives the token of its lease to the work', async ({ locks }) => {
    const tokens: bigint[] = [];
    const note = ({ token }: Lease): void => void tokens.push(token);
    await once(locks, 'a', DAY, note);
    await once(locks, 'b', DAY, note);
    const done = await once(locks, 'a', DAY, note);
    expect(done).toMatchObject({ state: 'done', token: tokens[0] });
    expect(tokens).toHaveLength(2);
  });

  it('is known for ten years, or a second, if that is asked for', async ({ clock, locks }) => {
    const day = 86_400_000;
    await once(locks, 'b', { keepFor: 1_000 }, () => 1);
    expect(await once(locks, 'b', DAY, () => 2)).toMatchObject({ state: 'done', leftMs: 1_000 });
    await once(locks, 'a', { keepFor: '3660d' }, () => 1);
    await clock.advance(3_659 * day);
    const known = await once(locks, 'a', DAY, () => 2);
    expect(known).toMatchObject({ state: 'done', leftMs: day });
    await clock.advance(day);
    expect(await once(locks, 'a', DAY, () => 2)).toEqual({ state: 'ran', value: 2 });
  });

  it('asks nothing of a store when its locks are closed, done or not', async ({ clock, store }) => {
    const locks = createLocks(store, { clock });
    await once(locks, 'a', DAY, () => 1);
    await locks.close();
    for (const key of ['a', 'b']) {
      await expect(once(locks, key, DAY, () => 2)).rejects.toMatchObject({ code: 'CLOSED' });
    }
  });

  it('does not enter itself', async ({ locks }) => {
    const nested = once(locks, 'a', DAY, () => once(locks, 'a', DAY, () => 1));
    await expect(nested).rejects.toMatchObject({ code: 'DEADLOCK' });
  });

  it('may be given up while it waits', async ({ clock, locks, other }) => {
    let go = (): void => {};
    const first = once(locks, 'a', DAY, () => new Promise<void>((resolve) => (go = resolve)));
    await clock.rest();
    const late = watchOutcome(once(other, 'a', { ...DAY, wait: '2s' }, () => 1));
    const stop = new AbortController();
    const bored = watchOutcome(once(other, 'a', { ...DAY, signal: stop.signal }, () => 1));
    await clock.rest();
    stop.abort(new Error('bored'));
    await clock.advance(2_000);
    expect(late.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', resource: 'once:a' });
    expect(bored.error).toMatchObject({ message: 'bored' });
    go();
    await clock.rest();
    await first;
  });
});

describe('a result that is kept', () => {
  it('has the type of what JSON returns, and may be missing', async ({ locks, other }) => {
    const work = async () => ({ at: new Date(0), left: new Map([[1, 2]]), again: () => 1, n: [1] });
    type Left = { at: string; left: Record<string, never>; n: number[] };
    await once(locks, 'a', { keepFor: '1d' }, work);
    const bare = await once(other, 'a', KEEP, work);
    expect(bare).toMatchObject({ state: 'done', value: undefined });
    expectTypeOf<FromJson<string & { readonly of: 'an id' }>>().toExtend<string>();
    expectTypeOf(bare.value).branded.toEqualTypeOf<Left | undefined>();
    const first = await once(locks, 'b', KEEP, work);
    expect(first.value).toEqual({ at: '1970-01-01T00:00:00.000Z', left: {}, n: [1] });
  });

  const KEEP = { keepFor: '1d', keepResult: true } as const;

  it.for([
    ['text', 'é'],
    ['null', null],
    ['false', false],
    ['undefined', undefined],
    ['a list', [1, { a: [] }]],
  ])('is the same for all: %s', async ([, value], { locks, other }) => {
    expect(await once(locks, 'a', KEEP, () => value)).toEqual({ state: 'ran', value });
    expect(await once(other, 'a', KEEP, () => 'never')).toMatchObject({ state: 'done', value });
  });

  const circle: { self?: unknown } = {};
  circle.self = circle;
  it.each([
    ['a function', () => {}, 'JSON cannot represent'],
    ['a bigint', 5n, 'it cannot be written as JSON'],
    ['a circle', circle, 'it cannot be written as JSON'],
    ['too long', 'é'.repeat(4096), 'it has 8194 bytes of JSON; at most 8192 are allowed'],
  ])('is refused when the work is done, which stays done: %s', async (_, value, why) => {
    const { locks, other } = setUp();
    const refused = once(locks, 'a', KEEP, () => value);
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'USAGE', resource: 'once:a', message: expect.stringContaining(why) },
    });
    const later = await once(other, 'a', KEEP, () => 'never');
    expect(later).toMatchObject({ state: 'done', value: undefined });
  });

  it('has room beside the longest label', async ({ clock, store }) => {
    const locks = createLocks(store, { clock, label: '\u0001'.repeat(5000) });
    await once(locks, 'a', KEEP, () => 'x'.repeat(8190));
    const later = await once(locks, 'a', KEEP, () => 'never');
    expect(later).toMatchObject({ state: 'done', by: { label: '\u0001'.repeat(256) } });
  });
});

describe('what is wrong is said before anything is sent', () => {
  const work = (): void => {};
  const wrong: [what: string, options: unknown, message: RegExp][] = [
    ['no options', undefined, /must be an object/],
    ['no keepFor', {}, /once needs keepFor/],
    ['keepFor of nothing', { keepFor: 0 }, /keepFor must be more than 0/],
    ['keepFor without its unit', { keepFor: 7 }, /7 is 7 ms, .* Write the unit: '7d' for days/],
    ['keepFor of just too little', { keepFor: 999 }, /or '999ms'/],
    [
      'keepFor of more than ten years',
      { keepFor: '3661d' },
      /longer than ten years, 3660d: '3661d'/,
    ],
    ['keepFor without end', { keepFor: Number.POSITIVE_INFINITY }, /ten years/],
    ['keepFor of words', { keepFor: 'long' }, /keepFor/],
    ['ifRunning', { ...DAY, ifRunning: 'run' }, /'wait' or 'skip', not 'run'/],
    ['keepResult', { ...DAY, keepResult: 1 }, /keepResult must be true or false/],
    ['another option', { ...DAY, keepfor: 1 }, /has no option "keepfor"/],
    ['the ttl', { ...DAY, ttl: 1 }, /ttl must be at least/],
    ['the wait', { ...DAY, wait: 'x' }, /wait/],
    ['the signal', { ...DAY, signal: {} }, /AbortSignal/],
    ['a signal of nothing', { ...DAY, signal: 0 }, /AbortSignal/],
  ];
  it.for(wrong)('%s', ([, options, message], { locks }) => {
    expect(() => once(locks, 'a', options as OnceOptions, work)).toThrow(message);
  });

  it('the key, and the work', ({ locks }) => {
    expect(() => once(locks, '', DAY, work)).toThrow(/key must not be empty/);
    expect(() => once(locks, 'x'.repeat(505), DAY, work)).toThrow(/key has 505 bytes/);
    expect(() => once(locks, 'a', DAY, 5 as never)).toThrow(/must be a function/);
  });

  it.each([
    ['keeps no records', []],
    ['keeps records and recalls none', ['keep']],
    ['recalls records and keeps none', ['recall']],
  ] as const)('a store that %s, without doing the work', async (_, verbs) => {
    const { clock, store } = setUp();
    const bare: Store = {
      ...{ name: 'bare', traits: store.traits, lineage: 'bare' },
      ...{ claim: store.claim.bind(store), renew: store.renew.bind(store) },
      ...{ release: store.release.bind(store), inspect: store.inspect.bind(store) },
      ...Object.fromEntries(verbs.map((verb) => [verb, store[verb]])),
    };
    const locks = createLocks(bare, { clock });
    let runs = 0;
    const ran = once(locks, 'a', DAY, () => runs++);
    const message = 'The bare store keeps no records of finished work.';
    await expect(ran).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'records', message });
    await expect(ran).rejects.toBeInstanceOf(UnsupportedError);
    expect(runs).toBe(0);
  });

  it('a record that is none of ours', async ({ store, clock }) => {
    const locks = createLocks(store, { clock });
    const foreign = 'something else has written it';
    const layout = 'its layout is 2, not 1';
    const records = { 'no JSON': foreign, null: foreign, '{}': foreign, '{"layout":2}': layout };
    for (const [text, why] of Object.entries(records)) {
      const lease = await locks.mutex('once:a').acquire();
      await store.keep?.(lease.live.claim, { text, ms: 1000 });
      await lease.release();
      const ran = once(locks, 'a', DAY, work);
      await expect(ran).rejects.toMatchObject({
        ...{ code: 'STORE', retryable: false, outcome: 'failed', resource: 'once:a' },
        message: `The record of 'once:a' cannot be read: ${why}.`,
      });
    }
  });
});

it('the memory forgets records whose time is over', async ({ clock }) => {
  const locks = createLocks(memoryStore({ clock }), { clock });
  for (let i = 0; i < 1000; i++) {
    await once(locks, `${i}`, { keepFor: '1ms' }, () => {});
    await clock.advance(2);
  }
  expect(await once(locks, '999', DAY, () => 1)).toMatchObject({ state: 'ran' });
});
