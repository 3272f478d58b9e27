import { allOf, currentLease, LeaseLostError, type Member, type Queue } from 'holdfast';
import { describe, expect } from 'vitest';
import { failure, held, it, silence, waiting, watchOutcome } from '../support/scripted-store.ts';

const holder = { host: 'there', pid: 7, since: 0 };

function memberOf(number: bigint): Member {
  return { number, kind: 'mutex', permits: 1, ttlMs: 1, leftMs: 1, holder };
}

describe('several locks', () => {
  it('are taken one after the other in the order of their names, whoever asks', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(10, held());
    const parts = ['b', 'é', 'a', 'Z', 'aa'].map((name) => bed.locks.mutex(name));
    const acquired = allOf(parts).acquire();
    await bed.clock.advance(50);
    expect(bed.store.entered.map(({ resource }) => resource)).toEqual(['Z', 'a', 'aa', 'b', 'é']);
    const { leases } = await acquired;
    expect(leases.map(({ resource }) => resource)).toEqual(['b', 'é', 'a', 'Z', 'aa']);
  });

  it('share one deadline for the wait', async ({ bed }) => {
    bed.store.onClaim = ({ resource }) => (resource < 'c' ? bed.late(400, held()) : waiting());
    const parts = ['a', 'b', 'c'].map((name) => bed.locks.mutex(name));
    const acquired = watchOutcome(allOf(parts).acquire({ wait: '1s' }));
    await bed.clock.advance(999);
    expect(acquired.done).toBe(false);
    await bed.clock.advance(10);
    expect(acquired.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', resource: 'c' });
    const left = bed.store.sent('release').flatMap(({ claims }) => claims);
    expect(left.map(({ resource }) => resource).sort()).toEqual(['a', 'b', 'c']);
  });

  for (const how of ['failure', 'refused', 'abort'] as const) {
    it(`are all given back when one fails, is refused or is aborted: ${how}`, async ({ bed }) => {
      const { clock, store, locks } = bed;
      const aborter = new AbortController();
      store.onClaim = ({ resource }) => {
        if (resource === 'a') return held();
        if (how === 'failure') throw failure({ retryable: false, outcome: 'failed' });
        return how === 'refused' ? { state: 'gone', why: 'refused' } : waiting();
      };
      const both = allOf([locks.mutex('a'), locks.mutex('b')]);
      const options = { signal: aborter.signal };
      const outcome = watchOutcome<unknown>(
        how === 'refused' ? both.tryAcquire(options) : both.acquire(options),
      );
      await clock.rest();
      aborter.abort('enough');
      await clock.rest();
      expect(outcome.done).toBe(true);
      if (how === 'refused') expect(outcome.value).toBeNull();
      if (how === 'abort') expect(outcome.error).toBe('enough');
      if (how === 'failure') expect(outcome.error).toMatchObject({ code: 'STORE' });
      const left = store.sent('release').flatMap(({ claims }) => claims);
      expect(left.some(({ resource }) => resource === 'a')).toBe(true);
      await clock.advance(60_000);
      expect(clock.keepingAlive).toBe(0);
    });
  }

  it('fail as a whole when one was lost while another was waited for', async ({ bed }) => {
    const { clock, store, locks, late } = bed;
    store.onClaim = ({ resource }) => (resource === 'a' ? held() : late(3_000, held()));
    store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    const both = allOf([locks.mutex('a', { ttl: '3s' }), locks.mutex('b')]);
    const acquired = watchOutcome(both.acquire());
    await clock.advance(3_000);
    expect(acquired.error).toMatchObject({ code: 'LEASE_LOST', resource: 'a', reason: 'evicted' });
    const left = store.sent('release').flatMap(({ claims }) => claims);
    expect(left.map(({ resource }) => resource).sort()).toEqual(['a', 'b']);
  });

  it('as a lease are held while all are, and abort with the first lost one', async ({ bed }) => {
    const { clock, store, locks } = bed;
    const both = await allOf([locks.mutex('b'), locks.mutex('a')]).acquire();
    expect(both.held).toBe(true);
    store.onRenew = ({ resource }) =>
      resource === 'a' ? { state: 'gone', why: 'evicted' } : held();
    const { signal, assertHeld } = both;
    await clock.advance(3_400);
    expect([both.held, both.remainingMs, signal.aborted]).toEqual([false, 0, true]);
    expect(signal.reason).toBe(both.loss);
    expect(assertHeld).toThrow(LeaseLostError);
    expect(both.leases.map(({ state }) => state)).toEqual(['held', 'lost']);
    await Promise.all([both[Symbol.asyncDispose](), clock.rest()]);
    expect(both.leases.map(({ state }) => state)).toEqual(['released', 'lost']);
  });

  it('let a listener see what is held while the next is asked for', async ({ locks }) => {
    const seen: unknown[] = [];
    const holding = () => currentLease()?.resource;
    locks.on('acquiring', ({ resource }) => seen.push(`${resource} in ${holding()}`));
    await allOf(['c', 'b', 'a'].map((name) => locks.mutex(name))).acquire();
    expect(seen).toEqual(['a in undefined', 'b in a', 'c in b']);
  });

  it('run work as one lock does: loss rejects, the work settles first', async ({ bed }) => {
    bed.store.onRenew = silence;
    const ran = watchOutcome(
      allOf([bed.locks.mutex('a'), bed.locks.semaphore('s', { limit: 3 })]).run(
        { wait: '1s' },
        () => new Promise((resolve) => bed.clock.setTimeout(() => resolve(1), 20_000)),
      ),
    );
    await bed.clock.advance(20_000);
    expect(ran.error).toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
    expect(bed.store.sent('release')).not.toHaveLength(0);
  });

  it('tell who holds any of them when a try is refused', async ({ bed }) => {
    bed.store.onInspect = async () => ({ holders: [memberOf(3n)], waiters: [] });
    bed.store.onClaim = () => ({ state: 'gone', why: 'refused' });
    const ran = watchOutcome(allOf([bed.locks.mutex('a'), bed.locks.mutex('b')]).tryRun(() => 1));
    await bed.clock.rest();
    expect(ran.value).toMatchObject({ acquired: false, holders: [{ holder }, { holder }] });
  });

  const free = { holders: [], waiters: [] };
  const taken = { holders: [memberOf(1n)], waiters: [] };
  it.for<readonly [string, readonly Omit<Queue, 'resource'>[]]>([
    ['queue', [free, free]],
    ['held', [free, taken]],
    ['data-loss', [free, { ...free, quarantineMs: 5 }]],
    ['queue', [{ ...taken, waiters: [{ ...memberOf(2n), permits: 3 }] }, taken]],
  ])('tell first of one that is not free: %s', async ([why, queues], { store, locks }) => {
    const looks = [...queues];
    store.onInspect = async () => looks.shift() ?? free;
    store.onClaim = () => ({ state: 'gone', why: 'refused' });
    const both = allOf([locks.semaphore('s', { limit: 3 }), locks.mutex('a')]);
    const holders = queues.flatMap((each) => each.holders.map(() => ({ holder })));
    expect(await both.tryRun(() => 1)).toMatchObject({ acquired: false, why, holders });
  });

  it('make nested runs on their parts deadlocks, or let them in', async ({ bed }) => {
    const a = bed.locks.mutex('a');
    const b = bed.locks.mutex('b', { reentrant: true });
    const ran = watchOutcome(
      allOf([a, b]).run(async () => {
        await expect(a.run(() => 1)).rejects.toMatchObject({ code: 'DEADLOCK' });
        expect(await b.run(() => 'in')).toBe('in');
        expect(await allOf([b, a]).tryRun(() => 1)).toMatchObject({ acquired: false });
      }),
    );
    await bed.clock.advance(1_000);
    expect(ran).toEqual({ done: true, value: undefined });
  });

  it('close the inner before the outer, each when floating runs have ended', async ({ bed }) => {
    const { clock, store, locks, late } = bed;
    const a = locks.mutex('a', { reentrant: true });
    const b = locks.mutex('b', { reentrant: true });
    const log: unknown[] = [];
    store.onRelease = ({ resource }) => Boolean(log.push(`released ${resource}`));
    const ran = watchOutcome(
      allOf([a, b]).run(() => {
        void b.run(() => late(100, 0).then(() => a.run(({ state }) => log.push(state))));
      }),
    );
    await clock.advance(1_000);
    expect([ran.done, log]).toEqual([true, ['held', 'released a', 'released b']]);
  });

  it('never hold what another waits for in the opposite order', async ({ clock, store, locks }) => {
    const taken = new Map<string, string>();
    store.onClaim = ({ resource, id }) => {
      const by = taken.get(resource);
      if (by === undefined) taken.set(resource, id);
      return (by ?? id) === id ? held() : waiting({ retryInMs: 10 });
    };
    store.onRenew = (claim, call) => store.onClaim(claim, call);
    store.onRelease = ({ resource, id }) => taken.get(resource) === id && taken.delete(resource);
    const fair = (name: string) => locks.mutex(name, { fair: true });
    const orders = ['abc', 'cba', 'ba', 'ca', 'bc'].map((names) => [...names].map(fair));
    let done = 0;
    for (const parts of [...orders, ...orders]) void allOf(parts).run(() => void done++);
    await clock.advance(2_000);
    expect([done, taken.size]).toEqual([10, 0]);
  });
});
