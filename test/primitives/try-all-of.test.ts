import { type Acquisition, tryAllOf } from 'holdfast';
import { describe, expect } from 'vitest';
import { failure, held, it, setUp, silence, watchOutcome } from '../support/scripted-store.ts';

const REFUSED = { state: 'gone', why: 'refused' } as const;

function setUpTogether(...given: Parameters<typeof setUp>) {
  const bed = setUp(...given);
  bed.store.takeTogether();
  const left = () => bed.store.sent('release').flatMap(({ claims }) => claims);
  return { ...bed, left };
}

describe('a try of several locks', () => {
  it('is one request, and one lease of all', async () => {
    const { clock, store, locks, left } = setUpTogether();
    const parts = [locks.mutex('b'), locks.semaphore('s', { limit: 3 }), locks.rwLock('a').write];
    const leases = watchOutcome(tryAllOf(parts, { label: 'both' }));
    await clock.rest();
    const [call, ...more] = store.sent('claimAll');
    expect(call?.claims.map(({ resource }) => resource)).toEqual(['a', 'b', 's']);
    expect(call?.claims.every(({ queue, holder }) => !queue && holder.label === 'both')).toBe(true);
    expect([more, store.entered]).toEqual([[], []]);
    expect(leases.value?.leases.map(({ kind }) => kind)).toEqual(['mutex', 'permits', 'write']);
    expect(leases.value?.held).toBe(true);
    await clock.advance(4_000);
    expect(store.sent('renew').flatMap(({ claims }) => claims)).toHaveLength(3);
    await leases.value?.release();
    expect(left()).toHaveLength(3);
  });

  it('resolves to null if one is not free, and has nothing to give back', async () => {
    const { clock, store, locks, left } = setUpTogether();
    store.onClaim = () => REFUSED;
    expect(await tryAllOf([locks.mutex('a'), locks.mutex('b')])).toBeNull();
    await clock.advance(60_000);
    expect([left(), clock.keepingAlive]).toEqual([[], 0]);
  });

  it('gives back what a store granted that decides for each', async () => {
    const { clock, store, locks, left } = setUpTogether();
    store.onClaim = ({ resource }) => (resource === 'a' ? held() : REFUSED);
    expect(await tryAllOf([locks.mutex('a'), locks.mutex('b')])).toBeNull();
    await clock.rest();
    expect(left().map(({ resource }) => resource)).toEqual(['a']);
  });

  it('gives all back if the grant comes too late for one', async () => {
    const { clock, store, locks, left } = setUpTogether();
    store.onClaim = ({ resource }) => held({ leftMs: resource === 'a' ? 100 : 10_000 });
    const tried = watchOutcome(tryAllOf([locks.mutex('a'), locks.mutex('b')]));
    await clock.advance(1_000);
    expect(tried.error).toMatchObject({ code: 'LEASE_LOST', reason: 'expired', resource: 'a' });
    expect(
      left()
        .map(({ resource }) => resource)
        .sort(),
    ).toEqual(['a', 'b']);
    expect(store.sent('claimAll')).toHaveLength(1);
    expect(store.entered).toEqual([]);
  });

  it('rejects if the outcome is unknown, and each claim leaves with a tombstone', async () => {
    for (const how of ['error', 'silence'] as const) {
      const { clock, store, locks, left } = setUpTogether();
      store.onClaim = () => {
        if (how === 'silence') return silence<never>();
        throw failure({ retryable: false });
      };
      const tried = watchOutcome(tryAllOf([locks.mutex('a'), locks.mutex('b')]));
      await clock.advance(4_000);
      expect(tried.error).toMatchObject({ code: 'STORE', outcome: 'unknown' });
      expect(left().map(({ unanswered }) => unanswered)).toEqual([true, true]);
    }
  });

  it('is not halved if the store refuses it', async () => {
    const { clock, store, locks } = setUpTogether();
    store.onClaim = () => {
      throw failure({ retryable: false, outcome: 'failed' });
    };
    const tried = watchOutcome(tryAllOf(['a', 'b', 'c'].map((name) => locks.mutex(name))));
    await clock.rest();
    expect(tried.error).toMatchObject({ code: 'STORE', outcome: 'failed' });
    expect(store.sent('claimAll').map(({ claims }) => claims.length)).toEqual([3]);
  });

  it('that is aborted before it is sent asks for nothing', async () => {
    const { clock, store, locks, late } = setUpTogether();
    store.onWatch = () => late(50, undefined);
    const aborter = new AbortController();
    const { signal } = aborter;
    const tried = watchOutcome(tryAllOf([locks.mutex('a'), locks.mutex('b')], { signal }));
    await clock.rest();
    aborter.abort('enough');
    await clock.advance(60_000);
    expect(tried.error).toBe('enough');
    expect(store.sent('claimAll')).toEqual([]);
    expect(clock.keepingAlive).toBe(0);
  });

  it('that is aborted under way gives all back', async () => {
    const { clock, store, locks, late, left } = setUpTogether();
    store.onClaim = () => late(50, held());
    const aborter = new AbortController();
    const { signal } = aborter;
    const tried = watchOutcome(tryAllOf([locks.mutex('a'), locks.mutex('b')], { signal }));
    await clock.advance(10);
    aborter.abort('enough');
    await clock.advance(100);
    expect(tried.error).toBe('enough');
    expect(left().map(({ unanswered }) => unanswered)).toEqual([true, true]);
  });

  it('waits for the last subscription, and for no longer than each may take', async () => {
    const { clock, store, locks, late } = setUpTogether();
    let subscriptions = 0;
    store.onWatch = () => (++subscriptions === 1 ? silence<void>() : late(50, undefined));
    const tried = watchOutcome(tryAllOf([locks.mutex('a'), locks.mutex('b')]));
    await clock.advance(1_000);
    expect(store.sent('claimAll')).toEqual([]);
    await clock.advance(9_000);
    expect(tried.value?.held).toBe(true);
  });

  it('asks for nothing if one is over before the others have come', async () => {
    const { clock, store, locks, late } = setUpTogether({ permits: false });
    store.onWatch = () => late(50, undefined);
    const semaphore = locks.semaphore('s', { limit: 3 });
    const tried = watchOutcome(tryAllOf([locks.mutex('a'), semaphore, locks.mutex('b')]));
    await clock.advance(1_000);
    expect(tried.error).toMatchObject({ code: 'UNSUPPORTED', trait: 'permits' });
    expect([store.sent('claimAll'), clock.keepingAlive]).toEqual([[], 0]);
  });

  it('takes a hundred', async () => {
    const { locks } = setUpTogether();
    const parts = Array.from({ length: 100 }, (_, n) => locks.mutex(String(n)));
    expect((await tryAllOf(parts))?.leases).toHaveLength(100);
  });

  it('does not wait behind tasks of this process, nor refuse them', async () => {
    const { clock, store, locks } = setUpTogether();
    const lease = await locks.mutex('a').acquire();
    store.onClaim = () => REFUSED;
    const tried = watchOutcome(tryAllOf([locks.mutex('a'), locks.mutex('b')]));
    const waiter = watchOutcome(locks.mutex('a').acquire());
    await clock.rest();
    expect([tried.value, waiter.done]).toEqual([null, false]);
    await lease.release();
    await clock.rest();
    expect(waiter.value?.held).toBe(true);
  });

  it('says that the name is in use as another kind, and that the locks are closed', async () => {
    const { store, locks } = setUpTogether();
    store.onClaim = ({ resource }) =>
      resource === 'a' ? { state: 'gone', why: 'mismatch', detail: 'permits' } : REFUSED;
    const both = () => tryAllOf([locks.mutex('b'), locks.mutex('a')]);
    await expect(both()).rejects.toMatchObject({ code: 'MISMATCH', resource: 'a' });
    await locks.close();
    await expect(both()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('announces each of its locks, and what came of it', async () => {
    const { clock, store, locks } = setUpTogether();
    const told: [string, Acquisition][] = [];
    const note = (what: string) => (event: { readonly acquisition?: Acquisition | undefined }) =>
      void told.push([what, event.acquisition as Acquisition]);
    locks.on('acquiring', note('acquiring'));
    locks.on('acquired', note('acquired'));
    locks.on('missed', note('missed'));
    const both = [locks.mutex('a'), locks.mutex('b')];
    await tryAllOf(both).then((leases) => leases?.release());
    store.onClaim = () => REFUSED;
    await tryAllOf(both);
    await clock.rest();
    const names = (what: string) =>
      told.filter(([each]) => each === what).map(([, { resource }]) => resource);
    expect(names('acquiring')).toEqual(['a', 'b', 'a', 'b']);
    expect([names('acquired').sort(), names('missed').sort()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});

describe('a store that cannot take several locks in one step', () => {
  it('refuses, and is asked for nothing', async ({ bed }) => {
    const tried = tryAllOf([bed.locks.mutex('a'), bed.locks.mutex('b')]);
    await expect(tried).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'claimAll' });
    expect(bed.store.calls).toEqual([]);
  });

  it('refuses those in several parts, and takes those in one', async () => {
    const { store, locks } = setUpTogether({}, { partOf: (resource) => resource.slice(0, 1) });
    const [a, b, beside] = [locks.mutex('a'), locks.mutex('b'), locks.mutex('a 2')];
    await expect(tryAllOf([a, b])).rejects.toMatchObject({
      ...{ code: 'UNSUPPORTED', trait: 'claimAll' },
      message: expect.stringContaining('one hash tag'),
    });
    expect(store.calls).toEqual([]);
    expect(await tryAllOf([a, beside])).not.toBeNull();
  });
});
