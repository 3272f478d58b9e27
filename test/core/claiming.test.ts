import { type AcquireOptions, allOf, type Lock, type Member } from 'holdfast';
import { describe, expect } from 'vitest';
import {
  failure,
  held,
  it,
  setUp,
  silence,
  waiting,
  watchOutcome,
} from '../support/scripted-store.ts';

/** What a lock and several locks have in common. */
type Way = Pick<Lock, 'acquire' | 'tryAcquire'> & {
  run(options: AcquireOptions, work: () => number): Promise<number>;
  tryRun(options: AcquireOptions, work: () => number): Promise<unknown>;
};

describe('a claim', () => {
  it('whose answer is ambiguous is asked again by its id, and its release says so', async () => {
    const { clock, store, locks } = setUp();
    let asked = 0;
    store.onClaim = () => (++asked < 3 ? Promise.reject(failure()) : held({ leftMs: 9_900 }));
    const acquired = locks.mutex('a').acquire();
    await clock.advance(500);
    const lease = await acquired;
    expect(new Set(store.entered.map((claim) => claim.id)).size).toBe(1);
    expect(store.entered).toHaveLength(3);
    await Promise.all([lease.release(), clock.rest()]);
    expect(store.sent('release')[0]?.claims[0]?.unanswered).toBe(true);
  });

  it('that was answered at once is released without a mark', async ({ clock, store, locks }) => {
    const lease = await locks.mutex('a').acquire();
    await Promise.all([lease.release(), clock.rest()]);
    expect(store.sent('release').map(({ claims }) => claims[0]?.unanswered)).toEqual([undefined]);
  });

  it('has no label unless it was given one', async ({ store, locks }) => {
    await locks.mutex('a').acquire();
    expect(Object.keys(store.entered[0]?.holder ?? {})).toEqual(['host', 'pid', 'since']);
  });

  it('that was given up before it was sent is not sent after its release', async () => {
    const bed = setUp({ replaces: true });
    bed.store.onClaim = silence;
    const hung = watchOutcome(bed.locks.mutex('hung').acquire({ wait: 100 }));
    await bed.clock.rest();
    const aborter = new AbortController();
    const { signal } = aborter;
    const second = watchOutcome(bed.locks.mutex('b').acquire({ signal }));
    watchOutcome(bed.locks.mutex('c').acquire({ signal, ifBusy: 'replace' }));
    await bed.clock.rest();
    aborter.abort('enough');
    await bed.clock.advance(60_000);
    expect([hung.done, second.error]).toEqual([true, 'enough']);
    expect(bed.store.entered.map(({ resource }) => resource)).toEqual(['hung']);
  });

  it('that replaces others does so from the first place, while it waits', async () => {
    const { clock, store, locks } = setUp({ replaces: true });
    const answers = [() => Promise.reject(failure())];
    store.onClaim = () => answers.shift()?.() ?? waiting();
    store.onRenew = () => waiting();
    const memberOf = (number: bigint, mark: string): Member => {
      const holder = { host: 'h', pid: 1, since: 0, mark };
      return { number, kind: 'mutex', permits: 1, ttlMs: 10_000, leftMs: 10_000, holder };
    };
    store.onInspect = async () => ({
      holders: [memberOf(1n, 'replaceable 1')],
      waiters: [memberOf(2n, store.entered[0]?.holder.mark ?? '')],
    });
    const evicted: bigint[] = [];
    store.onEvict = async (number) => {
      evicted.push(number);
      return false;
    };
    const aborter = new AbortController();
    const { signal } = aborter;
    const outcome = watchOutcome(locks.mutex('a').acquire({ ifBusy: 'replace', signal }));
    await clock.advance(4_000);
    expect(evicted).toEqual([1n, 1n]);
    aborter.abort('enough');
    await clock.advance(20_000);
    expect([outcome.error, evicted.length]).toEqual(['enough', 2]);
  });

  it('that is unanswered when its wait ends serves no later wait', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(500, held({ token: bed.store.next() }));
    const first = watchOutcome(bed.locks.mutex('a').acquire({ wait: 100 }));
    await bed.clock.advance(100);
    const second = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.advance(400);
    expect(first.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect(second.done, 'the reply to the first').toBe(false);
    await bed.clock.advance(500);
    expect(second.value?.token).toBe(2n * 1024n);
    const left = bed.store.sent('release').flatMap(({ claims }) => claims);
    expect(left).toMatchObject([{ id: bed.store.entered[0]?.id, unanswered: true }]);
  });

  it('shows its secret at its release only if it holds until then', async ({ bed }) => {
    const lease = await bed.locks.mutex('held').acquire();
    const lost = await bed.locks.mutex('lost', { maxHold: 100 }).acquire();
    bed.store.onClaim = () => waiting();
    watchOutcome(bed.locks.mutex('waited').acquire({ wait: 100 }));
    await bed.clock.rest();
    bed.store.onClaim = silence;
    const asked = watchOutcome(bed.locks.mutex('asked').acquire({ wait: 100 }));
    await bed.clock.advance(100);
    await Promise.all([lease.release(), lost.release(), bed.clock.rest()]);
    expect(asked.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect(lost.loss?.reason).toBe('max-hold');
    const left = bed.store.sent('release').flatMap(({ claims }) => claims);
    const shown = Object.fromEntries(left.map(({ resource, secret }) => [resource, secret]));
    const { secret } = bed.store.entered[0] ?? {};
    expect(secret).toHaveLength(32);
    const none = { asked: undefined, lost: undefined, waited: undefined };
    expect(shown).toEqual({ ...none, held: secret });
  });

  it('that certainly failed is tried again as if it had never been sent', async ({ bed }) => {
    for (const outcome of ['failed', 'unknown'] as const) {
      bed.store.onClaim = () => Promise.reject(failure({ outcome }));
      void bed.locks.mutex(outcome).acquire();
      await bed.clock.rest();
      bed.store.onClaim = () => held();
      await bed.clock.advance(100);
    }
    const again = bed.store.entered.map(({ resource, unanswered }) => [resource, unanswered]);
    expect(again.slice(0, 2)).toEqual(Array(2).fill(['failed', undefined]));
    expect(again.slice(2)).toEqual([
      ['unknown', undefined],
      ['unknown', true],
    ]);
  });

  it('that fails for good rejects at once, and is released', async ({ clock, store, locks }) => {
    store.onClaim = () => Promise.reject(failure({ retryable: false }));
    const acquired = watchOutcome(locks.mutex('a').acquire());
    await clock.rest();
    expect(acquired.error).toMatchObject({ code: 'STORE', retryable: false });
    expect(store.sent('release')[0]?.claims[0]).toMatchObject({ unanswered: true });
  });

  it('that fails for a whole TTL rejects; the retries slow down', async ({ bed }) => {
    bed.store.onClaim = () => Promise.reject(failure());
    const acquired = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.advance(9_000);
    expect(acquired.done).toBe(false);
    await bed.clock.advance(5_000);
    expect(acquired.error).toMatchObject({ code: 'STORE' });
    expect(bed.store.entered.length).toBeLessThan(15);
    expect(bed.clock.keepingAlive).toBe(0);
  });

  it('of a try that fails is released, marked as unanswered', async ({ clock, store, locks }) => {
    store.onClaim = () => Promise.reject(failure());
    const tried = watchOutcome(locks.mutex('a').tryAcquire());
    await clock.rest();
    expect(tried.error).toMatchObject({ code: 'STORE', outcome: 'unknown' });
    expect(store.entered).toHaveLength(1);
    expect(store.sent('release')[0]?.claims[0]).toMatchObject({
      id: store.entered[0]?.id,
      unanswered: true,
    });
  });

  it('that is not answered at all is no longer waited for after a third of its TTL', async () => {
    const { clock, store, locks } = setUp();
    store.onClaim = silence;
    const tried = watchOutcome(locks.mutex('a').tryAcquire());
    await clock.advance(3_300);
    expect(tried.done).toBe(false);
    await clock.advance(100);
    expect(tried.error).toMatchObject({ code: 'STORE', retryable: true, outcome: 'unknown' });
  });

  it('enters without hints if subscribing fails', async ({ clock, store, locks }) => {
    store.onWatch = () => Promise.reject(new Error('no subscription'));
    const acquired = watchOutcome(locks.mutex('a').acquire());
    await clock.rest();
    expect(acquired.value?.held).toBe(true);
  });

  it('enters without hints if subscribing is not answered', async ({ clock, store, locks }) => {
    store.onWatch = silence;
    const acquired = watchOutcome(locks.mutex('a').acquire());
    await clock.advance(3_400);
    expect(acquired.value?.held).toBe(true);
  });

  it('that was given up while subscribing leaves no subscription', async ({ bed }) => {
    bed.store.onWatch = () => bed.late(100, undefined);
    const acquired = watchOutcome(bed.locks.mutex('a').acquire({ wait: 50 }));
    await bed.clock.advance(500);
    expect(acquired.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect([bed.store.wakes.size, bed.store.entered.length]).toEqual([0, 0]);
  });

  it('does not mind a subscription that cannot be ended', async ({ clock, store, locks }) => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', note);
    const dispose = () => Promise.reject(new Error('the connection is closed'));
    Object.assign(store, { watch: async () => ({ [Symbol.asyncDispose]: dispose }) });
    const lease = await locks.mutex('a').acquire();
    await Promise.all([lease.release(), clock.rest()]);
    await clock.rest();
    process.removeListener('unhandledRejection', note);
    expect(store.sent('release')).toHaveLength(1);
    expect(rejections).toEqual([]);
  });

  it('is not sent before the subscription is there', async ({ clock, store, locks, late }) => {
    store.onWatch = () => late(100, undefined);
    const acquired = watchOutcome(locks.mutex('a').acquire());
    await clock.advance(99);
    expect(store.calls).toHaveLength(0);
    await clock.advance(1);
    expect(acquired.value?.held).toBe(true);
    expect(store.entered).toHaveLength(1);
  });

  it('given no answer in a batch that was answered is a failure, not a grant', async ({ bed }) => {
    Object.assign(bed.store, { claim: async () => [] });
    const acquired = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.rest();
    expect(acquired.error).toMatchObject({ code: 'STORE', outcome: 'unknown' });
  });
});

describe('an aborted wait', () => {
  it('leaves the queue at once and rejects with the reason itself', async ({ bed }) => {
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    const aborter = new AbortController();
    const acquired = watchOutcome(bed.locks.mutex('a').acquire({ signal: aborter.signal }));
    await bed.clock.advance(5_000);
    const reason = { why: 'because' };
    aborter.abort(reason);
    await bed.clock.rest();
    expect(acquired.error).toBe(reason);
    const left = bed.store.sent('release').flatMap(({ claims }) => claims);
    expect(left.map(({ unanswered }) => unanswered)).toEqual([undefined]);
    const requests = bed.store.calls.length;
    await bed.clock.advance(60_000);
    expect(bed.store.calls).toHaveLength(requests);
    expect(bed.clock.keepingAlive).toBe(0);
  });

  it('while claiming does not wait for the answer, and the release says so', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(1_000, held());
    const aborter = new AbortController();
    const acquired = watchOutcome(bed.locks.mutex('a').acquire({ signal: aborter.signal }));
    await bed.clock.advance(500);
    aborter.abort();
    await bed.clock.rest();
    expect(acquired.error).toBe(aborter.signal.reason);
    expect(bed.store.sent('release')[0]?.claims[0]).toMatchObject({ unanswered: true });
    await bed.clock.advance(60_000);
    expect(bed.store.sent('renew')).toHaveLength(0);
  });

  it('that was granted by then keeps its lease', async ({ clock, store, locks }) => {
    const aborter = new AbortController();
    const lease = await locks.mutex('a').acquire({ signal: aborter.signal });
    aborter.abort();
    await clock.advance(1_000);
    expect([lease.held, store.sent('release').length]).toEqual([true, 0]);
  });

  it('before it began sends nothing', async ({ clock, store, locks }) => {
    const signal = AbortSignal.abort('too late');
    const both = allOf([locks.mutex('a'), locks.mutex('b')]);
    const work = (): number => 1;
    for (const ways of [locks.mutex('a'), both] as Way[]) {
      await expect(ways.acquire({ signal })).rejects.toBe('too late');
      await expect(ways.tryAcquire({ signal })).rejects.toBe('too late');
      await expect(ways.run({ signal }, work)).rejects.toBe('too late');
      await expect(ways.tryRun({ signal }, work)).rejects.toBe('too late');
    }
    await clock.advance(1_000);
    expect(store.calls).toHaveLength(0);
  });

  it('among others of this process takes only itself out of the line', async ({ clock, locks }) => {
    const mutex = locks.mutex('a');
    const lease = await mutex.acquire();
    const aborter = new AbortController();
    const second = watchOutcome(mutex.acquire({ signal: aborter.signal }));
    const third = watchOutcome(mutex.acquire());
    aborter.abort('enough');
    await Promise.all([lease.release(), clock.rest()]);
    expect([second.error, third.value?.held]).toEqual(['enough', true]);
  });

  it('keeps no listener on a signal that outlives it', async ({ clock, locks }) => {
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = AbortSignal.prototype;
    Object.assign(signal, {
      addEventListener(...args: Parameters<AbortSignal['addEventListener']>) {
        listeners++;
        addEventListener.apply(signal, args);
      },
      removeEventListener(...args: Parameters<AbortSignal['removeEventListener']>) {
        listeners--;
        removeEventListener.apply(signal, args);
      },
    });
    await Promise.all([locks.mutex('a').run({ signal }, () => 1), clock.rest()]);
    expect(listeners).toBe(0);
  });
});

describe('a wait that runs out', () => {
  it('tells how long, how many were ahead and who holds, and leaves the queue', async ({ bed }) => {
    const holder = { host: 'there', pid: 7, label: 'nightly', since: 0 };
    const member = {
      number: 3n,
      kind: 'mutex',
      permits: 1,
      ttlMs: 10_000,
      leftMs: 1,
      holder,
    } as const;
    bed.store.onInspect = async () => ({ holders: [member], waiters: [] });
    bed.store.onClaim = () => waiting({ ahead: 4 });
    const acquired = watchOutcome(bed.locks.mutex('a').acquire({ wait: '2s' }));
    await bed.clock.advance(1_999);
    expect(acquired.done).toBe(false);
    await bed.clock.advance(1);
    await bed.clock.rest();
    expect(acquired.error).toMatchObject({
      ...{ code: 'ACQUIRE_TIMEOUT', waitedMs: 2_000, ahead: 4 },
      holders: [{ number: 3n * 1024n, holder }],
    });
    expect(String(acquired.error)).toContain('nightly on there, pid 7');
    expect(bed.store.sent('release')).toHaveLength(1);
    expect(bed.clock.keepingAlive).toBe(0);
  });

  it('counts from the call while the store is silent, and says who called', async ({ bed }) => {
    bed.store.onClaim = silence;
    const acquired = watchOutcome(bed.locks.mutex('a').acquire({ wait: 100 }));
    await bed.clock.advance(99);
    expect(acquired.done).toBe(false);
    await bed.clock.advance(1);
    expect(acquired.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', waitedMs: 100 });
    expect((acquired.error as Error).stack).toContain('claiming.test.ts');
    expect(bed.store.sent('release')[0]?.claims[0]).toMatchObject({ unanswered: true });
    expect(bed.clock.keepingAlive).toBe(0);
  });

  for (const onInspect of [silence<never>, () => Promise.reject(new Error('down'))]) {
    it('does not wait for a store that cannot say who holds', async ({ clock, store, locks }) => {
      store.onInspect = onInspect;
      store.onClaim = () => waiting();
      const acquired = watchOutcome(locks.mutex('a').acquire({ wait: 100 }));
      await clock.advance(500);
      expect(acquired.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', holders: [] });
    });
  }

  it('does not count claims ahead of one that this process holds by now', async ({ bed }) => {
    bed.store.onClaim = () => waiting({ ahead: 4 });
    const mutex = bed.locks.mutex('a');
    void mutex.acquire();
    await bed.clock.advance(3_400);
    const behind = watchOutcome(mutex.acquire({ wait: 100 }));
    await bed.clock.advance(400);
    expect(behind.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', ahead: undefined });
  });

  it('takes the default of createLocks', async () => {
    const { clock, store, locks } = setUp({}, { wait: '1s' });
    store.onClaim = () => waiting();
    const acquired = watchOutcome(locks.mutex('a').acquire());
    const patient = watchOutcome(locks.mutex('a').acquire({ wait: '3s' }));
    await clock.advance(1_300);
    expect([acquired.done, patient.done]).toEqual([true, false]);
  });

  it('is reported as slow after 30 s, once', async ({ clock, store, locks }) => {
    const slow: unknown[] = [];
    locks.on('slow', (event) => slow.push(event));
    store.onClaim = store.onRenew = () => waiting({ ahead: 2 });
    void locks.mutex('a').acquire();
    await clock.advance(29_999);
    expect([slow, store.sent('inspect')]).toEqual([[], []]);
    await clock.advance(1);
    const reported = [
      expect.objectContaining({ resource: 'a', kind: 'mutex', waitedMs: 30_000, ahead: 2 }),
    ];
    expect(slow).toEqual(reported);
    await clock.advance(60_000);
    expect(slow).toEqual(reported);
  });
});
