import { createLocks, evict } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { watchOutcome } from '../../support/scripted-store.ts';

describe('the memory store', () => {
  it('forgets old endings without forgetting who holds now', async () => {
    const store = memoryStore();
    const locks = createLocks(store);
    const takeAway = async (name: string): Promise<void> => {
      const { token } = await locks.mutex(name).acquire();
      await evict(locks, name, { token, reason: 'test', now: true });
    };
    await takeAway('r');
    await (await locks.mutex('r').acquire()).release();
    const holder = await locks.mutex('r').acquire();
    // More than are remembered, so that the ending of the first would be pushed out.
    for (let n = 0; n < 1_100; n++) await takeAway(`other ${n}`);
    const rival = createLocks(store);
    expect(await rival.mutex('r').tryAcquire()).toBeNull();
    await holder.renew();
    expect(holder.held).toBe(true);
  });

  it('tells how a hold ended, although it has looked for old endings since', async () => {
    const clock = new FakeClock();
    const store = memoryStore({ clock });
    const takeAway = async (resource: string): Promise<void> => {
      const [status] = await store.claim([claimOf(resource)]);
      const { token = 0n } = status?.state === 'held' ? status : {};
      await store.evict?.(resource, token, { reason: 'test', now: true });
    };
    await takeAway('r');
    const holder = claimOf('r');
    await store.claim([holder]);
    await store.release([holder], { ms: 10 });
    clock.stall(20);
    // More than are remembered, so that it looks which of them may go.
    for (let n = 0; n < 1_100; n++) await takeAway(`other ${n}`);
    const [status] = await store.claim([claimOf('r')]);
    expect(status).toMatchObject({ state: 'held', takeover: { reason: 'released' } });
  });

  it('gives a lease the lineage of its grant, whatever the store loses later', async () => {
    const store = memoryStore({ quarantine: 0 });
    const locks = createLocks(store);
    const old = await locks.mutex('r').acquire();
    const { lineage } = old;
    store.forget();
    const next = await createLocks(store).mutex('r').acquire();
    expect(old.lineage).toBe(lineage);
    expect(next.lineage).not.toBe(lineage);
  });

  it('knows nothing of a resource from the one before', async () => {
    const store = memoryStore({ clock: new FakeClock(), quarantine: '12s' });
    const tokens: bigint[] = [];
    for (const [i, kind] of (['mutex', 'read', 'permits'] as const).entries()) {
      const one = claimOf(`resource ${i}`, { kind });
      const [status] = await store.claim([one]);
      if (status?.state === 'held') tokens.push(status.token);
      await store.release([one]);
    }
    expect(tokens).toEqual([1n, 2n, 3n]);
    store.forget();
    const [status] = await store.claim([claimOf('resource 0')]);
    expect(status).toMatchObject({ state: 'waiting', why: 'data-loss' });
  });

  it('gives a resource greater tokens, whichever queue serves it next', async () => {
    const locks = createLocks(memoryStore());
    const older = await locks.mutex('older').acquire();
    const newer = await locks.mutex('newer').acquire();
    // The queue that is blank last knows the smaller number.
    await newer.release();
    await older.release();
    const next = await locks.mutex('newer').acquire();
    expect(next.token).toBeGreaterThan(newer.token);
  });

  it('wakes no claim that has left by then', async () => {
    const store = memoryStore();
    const [first, second, other] = [claimOf('r'), claimOf('r'), claimOf('other')];
    const hints: unknown[] = [];
    await store.claim([first]);
    void store.watch?.(first, (hint) => hints.push(hint));
    const steps = [store.claim([second]), store.release([second]), store.release([first])];
    await Promise.all([...steps, store.claim([other])]);
    expect(hints).toEqual([]);
  });

  it('tells who stands behind the dead to ask when somebody alive may have died', async () => {
    const clock = new FakeClock();
    const store = memoryStore({ clock });
    const claim = (ttlMs: number) => claimOf('r', { ttlMs });
    const last = claim(10_000);
    for (const each of [claim(10_000), claim(10_000), claim(10), last]) await store.claim([each]);
    clock.stall(20);
    const [status] = await store.renew([last]);
    expect(status).toMatchObject({ state: 'waiting', retryInMs: 10_000 - 20 });
  });

  it('that has lost everything grants nothing until whoever held cannot any more', async () => {
    const clock = new FakeClock();
    const store = memoryStore({ clock, quarantine: '12s' });
    const lease = await createLocks(store, { clock }).mutex('r').acquire();
    store.forget();
    const next = watchOutcome(createLocks(store, { clock }).mutex('r').acquire());
    const tried = watchOutcome(createLocks(store, { clock }).mutex('r').tryAcquire());
    await clock.advance(11_999);
    expect([lease.held, next.done, tried]).toEqual([false, false, { done: true, value: null }]);
    await clock.advance(10);
    expect(next.value?.held).toBe(true);
  });
});
