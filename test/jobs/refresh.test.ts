import { hostname } from 'node:os';
import { createLocks } from 'holdfast';
import { type RefreshOptions, refresh } from 'holdfast/refresh';
import { describe, expect } from 'vitest';
import { gate } from '../support/gate.ts';
import { watchOutcome } from '../support/scripted-store.ts';
import { type Bed, it, lost, setUp } from './bed.ts';

/** A token that is good for so many ms, shared by all. */
class Token {
  value: { readonly n: number; readonly until: number } | undefined;
  loads = 0;
  /** What a load waits for. */
  gate: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  readonly #bed: Bed;

  constructor(bed: Bed) {
    this.#bed = bed;
  }

  options(more: Partial<RefreshOptions<number>> = {}): RefreshOptions<number> {
    return {
      read: () => this.#read(0),
      load: async () => {
        const n = ++this.loads;
        await this.gate;
        if (this.failure) throw this.failure;
        this.value = { n, until: this.#bed.clock.now() + 60_000 };
        return n;
      },
      ...more,
    };
  }

  /** Usable for a while longer. */
  readonly old = (): number | undefined => this.#read(30_000);

  #read(graceMs: number): number | undefined {
    const { n, until = 0 } = this.value ?? {};
    return this.#bed.clock.now() < until + graceMs ? n : undefined;
  }
}

describe('refresh', () => {
  it('asks nobody while the value is fresh', async ({ bed }) => {
    const token = new Token(bed);
    await refresh(bed.locks, 'a', token.options());
    let requests = 0;
    bed.around = (_, next) => {
      requests++;
      return next();
    };
    expect(await refresh(bed.locks, 'a', token.options())).toBe(1);
    expect(requests).toBe(0);
  });

  it('takes null for no value, as clients of caches return it', async ({ bed }) => {
    const cache = new Map<string, string>();
    const read = async (): Promise<string | null> => cache.get('token') ?? null;
    const load = async (): Promise<string> => {
      cache.set('token', 'fresh');
      return 'fresh';
    };
    const token: string = await refresh(bed.locks, 'a', {
      ...{ read, load, staleWhileRefreshing: () => null },
    });
    expect([token, await read()]).toEqual(['fresh', 'fresh']);
  });

  it('loads once for all, in this process with one claim', async ({ bed }) => {
    const token = new Token(bed);
    let claims = 0;
    bed.around = ({ verb }, next) => {
      if (verb === 'claim') claims++;
      return next();
    };
    for (let period = 1; period <= 3; period++) {
      const callers = Array.from({ length: 500 }, (_, i) =>
        refresh(i % 2 ? bed.locks : bed.other, 'a', token.options()),
      );
      expect(new Set(await Promise.all(callers))).toEqual(new Set([period]));
      await bed.clock.advance(60_000);
    }
    expect([token.loads, claims]).toEqual([3, 3]);
  });

  it('is shared by those who wait, each as long as it likes', async ({ bed, clock, locks }) => {
    const token = new Token(bed);
    const go = gate();
    token.gate = go.opened;
    const stop = new AbortController();
    const first = watchOutcome(refresh(locks, 'a', token.options({ wait: '1s' })));
    const bored = watchOutcome(refresh(locks, 'a', token.options({ signal: stop.signal })));
    const patient = watchOutcome(refresh(locks, 'a', token.options()));
    await clock.advance(1_000);
    stop.abort(new Error('bored'));
    await clock.rest();
    expect(first.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', resource: 'refresh:a' });
    expect(bored.error).toMatchObject({ message: 'bored' });
    expect(patient.done).toBe(false);
    go.open();
    await clock.rest();
    expect(patient.value).toBe(1);
  });

  it('waits no more when nobody wants it, and the next caller begins anew', async ({ bed }) => {
    const { clock, locks, other } = bed;
    const token = new Token(bed);
    const elsewhere = await other.mutex('refresh:a').acquire();
    const stop = new AbortController();
    const gone = watchOutcome(refresh(locks, 'a', token.options({ signal: stop.signal })));
    await clock.rest();
    expect((await other.inspect('refresh:a')).waiters).toHaveLength(1);
    stop.abort(new Error('gone'));
    const next = watchOutcome(refresh(locks, 'a', token.options()));
    await clock.rest();
    expect(gone.error).toMatchObject({ message: 'gone' });
    expect(next.done).toBe(false);
    await elsewhere.release();
    await clock.rest();
    expect([next.value, token.loads]).toEqual([1, 1]);
  });

  it('leaves the queue when the last that wants it has left', async ({ clock, locks, other }) => {
    const token = await other.mutex('refresh:a').acquire();
    const options = { read: () => undefined, load: () => 1 } as const;
    const [early, late] = (['1s', '2s'] as const).map((wait) =>
      watchOutcome(refresh(locks, 'a', { ...options, wait })),
    );
    await clock.advance(1_000);
    expect(early?.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect(late?.done).toBe(false);
    expect((await other.inspect('refresh:a')).waiters).toHaveLength(1);
    await clock.advance(1_000);
    expect(late?.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect((await other.inspect('refresh:a')).waiters).toEqual([]);
    await token.release();
  });

  it('goes on with a load that nobody waits for any more', async ({ bed, clock, locks }) => {
    const token = new Token(bed);
    const go = gate();
    token.gate = go.opened;
    const given = watchOutcome(refresh(locks, 'a', token.options({ wait: 10 })));
    await clock.advance(10);
    const next = watchOutcome(refresh(locks, 'a', token.options()));
    await clock.rest();
    go.open();
    await clock.rest();
    expect(given.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect([next.value, token.loads]).toEqual([1, 1]);
  });

  it('begun anew is shared, also when the load before it ends', async ({ bed, clock, locks }) => {
    const token = new Token(bed);
    token.failure = new Error('not yet');
    const options = token.options({ retryAfter: 0 });
    const [first, second] = [gate(), gate()];
    token.gate = first.opened;
    watchOutcome(refresh(locks, 'a', { ...options, wait: 10 }));
    await clock.advance(10);
    const anew = watchOutcome(refresh(locks, 'a', options));
    await clock.rest();
    token.gate = second.opened;
    first.open();
    await clock.rest();
    const joined = watchOutcome(refresh(locks, 'a', options));
    await clock.rest();
    second.open();
    await clock.rest();
    expect([anew.error, joined.error]).toEqual([token.failure, token.failure]);
    expect(token.loads).toBe(2);
  });

  it('takes the default wait of its locks, and reports it', async ({ clock, store }) => {
    const locks = createLocks(store, { clock, wait: '3s' });
    const waits: unknown[] = [];
    locks.on('waiting', ({ resource, kind }) => waits.push([resource, kind]));
    const hangs = { read: () => undefined, load: () => new Promise<number>(() => {}) };
    const late = watchOutcome(refresh(locks, 'a', hangs));
    await clock.advance(3_000);
    expect(late.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', waitedMs: 3_000 });
    expect(waits).toEqual([['refresh:a', 'mutex']]);
  });

  it('begins nothing when its locks are closed', async ({ clock, store }) => {
    const locks = createLocks(store, { clock });
    await locks.close();
    const late = refresh(locks, 'a', { read: () => undefined, load: () => 1 });
    await expect(late).rejects.toMatchObject({ code: 'CLOSED' });
    expect(clock.timers).toBe(0);
  });

  it('does not wait for itself', async ({ locks }) => {
    const read = (): undefined => {};
    const load = (): Promise<number> => refresh<number>(locks, 'a', { read, load });
    const nested = refresh<number>(locks, 'a', { read, load });
    await expect(nested).rejects.toMatchObject({ code: 'DEADLOCK' });
  });

  it('rejects when the lease was lost while it loaded', async ({ clock, locks }) => {
    const stalled = watchOutcome(
      refresh<number>(locks, 'a', { read: () => undefined, load: () => clock.stall(60_000) ?? 1 }),
    );
    await clock.rest();
    expect(stalled.error).toMatchObject({ code: 'LEASE_LOST', reason: 'stalled' });
  });
});

describe('a load that hangs', () => {
  it('ends with its lease for those who wait, and the next one loads', async ({ clock, locks }) => {
    const hangs = new Promise<number>(() => {});
    let loads = 0;
    const options = {
      ...({ read: () => undefined, maxHold: '30s' } as const),
      load: () => (++loads === 1 ? hangs : loads),
    };
    const callers = [1, 2].map(() => watchOutcome(refresh<number>(locks, 'a', options)));
    await clock.advance(30_000);
    for (const { error } of callers) {
      expect(error).toMatchObject({ code: 'LEASE_LOST', reason: 'max-hold' });
    }
    const next = watchOutcome(refresh<number>(locks, 'a', options));
    // The claim is left to its TTL, for the load may still be at work.
    await clock.advance(10_100);
    expect(next.value).toBe(2);
  });
});

describe('while another loads', () => {
  it('only others use the old value: the one that loads gets the new one', async ({ locks }) => {
    const stale = { read: () => undefined, staleWhileRefreshing: () => 'old' };
    expect(await refresh(locks, 'a', { ...stale, load: () => 'new' })).toBe('new');
  });

  it('the old value is used for as long as it is usable, here and elsewhere', async ({ bed }) => {
    const { clock, locks, other } = bed;
    const token = new Token(bed);
    const options = token.options({ staleWhileRefreshing: token.old });
    await refresh(locks, 'a', options);
    await clock.advance(60_000);
    const go = gate();
    token.gate = go.opened;
    const loading = watchOutcome(refresh(locks, 'a', options));
    await clock.rest();
    expect(await refresh(locks, 'a', options)).toBe(1);
    expect(await refresh(other, 'a', options)).toBe(1);
    await clock.advance(30_000);
    const waits = [locks, other].map((each) => watchOutcome(refresh(each, 'a', options)));
    await clock.rest();
    expect(waits.map(({ done }) => done)).toEqual([false, false]);
    go.open();
    await clock.rest();
    expect([loading, ...waits].map(({ value }) => value)).toEqual([2, 2, 2]);
    expect(token.loads).toBe(2);
  });
});

describe('a failure', () => {
  it('is that of all who wait here, and is told elsewhere without its message', async ({ bed }) => {
    const { clock, locks, other } = bed;
    const token = new Token(bed);
    const go = gate();
    token.gate = go.opened;
    token.failure = new Error('the password is 1234');
    const here = [1, 2].map(() => watchOutcome(refresh(locks, 'a', token.options())));
    await clock.rest();
    const there = [1, 2].map(() => watchOutcome(refresh(other, 'a', token.options())));
    await clock.rest();
    go.open();
    await clock.rest();
    for (const { error } of here) expect(error).toBe(token.failure);
    const failed = `${hostname()}, pid ${process.pid}, has just failed to refresh "refresh:a"`;
    for (const { error } of there) {
      expect(error).toMatchObject({
        ...{ code: 'REFRESH', resource: 'refresh:a', retryInMs: 1000 },
        message: `${failed}: the next try is in 1000 ms.`,
      });
      expect(String(error)).not.toMatch(/1234/);
    }
    expect((await bed.store.recall?.('refresh:a'))?.text).not.toMatch(/1234/);
    expect(token.loads).toBe(1);
  });

  it('is over after retryAfter', async ({ bed, clock, locks, other }) => {
    const token = new Token(bed);
    token.failure = new Error('not yet');
    const options = token.options({ retryAfter: '1m' });
    await expect(refresh(locks, 'a', options)).rejects.toThrow('not yet');
    await clock.advance(59_999);
    token.failure = undefined;
    await expect(refresh(other, 'a', options)).rejects.toMatchObject({ code: 'REFRESH' });
    await clock.advance(1);
    expect(await refresh(other, 'a', options)).toBe(2);
  });

  it('leaves others, here and elsewhere, the old value for as long as it is usable', async () => {
    const bed = setUp();
    const { clock, locks, other } = bed;
    const token = new Token(bed);
    const options = token.options({ staleWhileRefreshing: token.old, retryAfter: '40s' });
    await refresh(locks, 'a', options);
    await clock.advance(60_000);
    token.failure = new Error('not now');
    await expect(refresh(locks, 'a', options)).rejects.toThrow('not now');
    for (const each of [locks, other]) expect(await refresh(each, 'a', options)).toBe(1);
    await clock.advance(30_000);
    await expect(refresh(other, 'a', options)).rejects.toMatchObject({ code: 'REFRESH' });
    expect(token.loads).toBe(2);
  });

  it.each([
    ['with a retryAfter of 0', {}, 0],
    ['on a store that keeps no records', { records: false }, '1s'],
  ] as const)('is not told elsewhere %s', async (_, traits, retryAfter) => {
    const bed = setUp(traits);
    const verbs: string[] = [];
    bed.around = ({ verb }, next) => {
      verbs.push(verb);
      return next();
    };
    const token = new Token(bed);
    token.failure = new Error('not yet');
    const options = token.options({ retryAfter });
    await expect(refresh(bed.locks, 'a', options)).rejects.toThrow('not yet');
    expect(verbs).toEqual(['watch', 'claim', 'release']);
    token.failure = undefined;
    expect(await refresh(bed.other, 'a', options)).toBe(2);
  });

  it('is told as it is, even if it cannot be noted', async () => {
    const bed = setUp({ synchronous: false });
    const token = new Token(bed);
    token.failure = new Error('not yet');
    bed.around = ({ verb }, next) => (verb === 'keep' ? Promise.reject(lost()) : next());
    const failed = watchOutcome(refresh(bed.locks, 'a', token.options()));
    await bed.clock.advance(1_000);
    expect(failed.error).toBe(token.failure);
  });

  it('of read is the caller’s own', async ({ locks }) => {
    const read = (): undefined => {
      throw new Error('no cache');
    };
    await expect(refresh(locks, 'a', { read, load: () => 1 })).rejects.toThrow('no cache');
  });
});

describe('what is wrong is said at once', () => {
  const one = (): number => 1;
  const fine = { read: one, load: one };
  it.for([
    ['no options', undefined, /must be an object/],
    ['no read', { load: one }, /read must be a function/],
    ['no load', { read: one }, /load must be a function/],
    ['no old value', { ...fine, staleWhileRefreshing: null }, /must be a function/],
    ['staleWhileRefreshing', { ...fine, staleWhileRefreshing: 1 }, /must be a function/],
    ['retryAfter', { ...fine, retryAfter: '2m' }, /at most 60000 ms/],
    ['the wait', { ...fine, wait: -1 }, /wait/],
    ['another option', { ...fine, keepFor: 1 }, /has no option "keepFor"/],
  ] as const)('%s', ([, options, message], { locks }) => {
    const ask = (): unknown => refresh(locks, 'a', options as RefreshOptions<number>);
    expect(ask).toThrow(message);
  });
});
