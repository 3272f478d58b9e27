/** A lease that goes to another process: what the giver and the taker see, and what they send. */
import { Buffer } from 'node:buffer';
import { createLocks, type LockEvents, type Locks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import { once } from 'holdfast/once';
import { refresh } from 'holdfast/refresh';
import { describe, expect, onTestFinished } from 'vitest';
import { failure, held, it, setUp, silence, watchOutcome } from '../support/scripted-store.ts';

const HANDED_OVER = { code: 'LEASE_LOST', reason: 'handed-over' };
const GIVEN = { state: 'gone', why: 'handed-over' } as const;

/** Locks of two processes. */
function two(): readonly [Locks, Locks] {
  const store = memoryStore();
  const both = [createLocks(store), createLocks(store)] as const;
  for (const locks of both) onTestFinished(() => locks.close({ drain: 0 }));
  return both;
}

describe('handing over', () => {
  it('ends the lease here before the request leaves, and says why', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    const { signal } = lease;
    const seen: unknown[] = [];
    bed.store.onHandOver = () => {
      seen.push(lease.held, lease.state, signal.aborted);
      return GIVEN;
    };
    expect(await lease.handOver()).toMatch(/^holdfast\.1\.[\w-]+$/);
    expect(seen).toEqual([false, 'released', true]);
    expect(signal.reason).toMatchObject(HANDED_OVER);
    expect(() => lease.assertHeld()).toThrow(expect.objectContaining(HANDED_OVER));
    await expect(lease.handOver()).rejects.toMatchObject(HANDED_OVER);
    await Promise.all([lease.ended, lease.release(), bed.clock.advance(60_000)]);
    expect(bed.store.calls.map(({ verb }) => verb)).toEqual(['claim', 'handOver']);
  });

  it('aborts a signal that is read later, too', async ({ locks }) => {
    const lease = await locks.mutex('a').acquire();
    await lease.handOver();
    expect(lease.signal.reason).toMatchObject(HANDED_OVER);
    expect(lease.loss).toBeUndefined();
  });

  it('lets run return what its work returned', async ({ locks }) => {
    const mutex = locks.mutex('a');
    await expect(mutex.run((lease) => lease.handOver())).resolves.toMatch(/^holdfast/);
  });

  it('lets the tasks that wait here claim anew', async ({ clock, store, locks }) => {
    const mutex = locks.mutex('a');
    const lease = await mutex.acquire();
    const next = watchOutcome(mutex.acquire());
    await Promise.all([lease.handOver(), clock.rest()]);
    expect(next.value?.held).toBe(true);
    expect(new Set(store.entered.map(({ id }) => id)).size).toBe(2);
  });

  it('is told as a release that hands over, and as no loss', async ({ clock, locks }) => {
    const told: unknown[] = [];
    locks.on('released', ({ token, handedOver }) => told.push([token, handedOver]));
    locks.on('lost', () => told.push('lost'));
    const lease = await locks.mutex('a').acquire();
    await Promise.all([lease.handOver(), clock.rest()]);
    const other = await locks.mutex('b').acquire();
    await Promise.all([other.release(), clock.rest()]);
    expect(told).toEqual([
      [lease.token, true],
      [other.token, undefined],
    ]);
  });

  it('says nothing of the giver in the text but its lock, and marks the claim', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire({ label: 'giver' });
    const ids: string[] = [];
    bed.store.onHandOver = (_, { to }) => {
      ids.push(to);
      return GIVEN;
    };
    const text = await lease.handOver();
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    const [given] = bed.store.sent('handOver')[0]?.claims ?? [];
    expect(given?.holder).toMatchObject({ label: 'giver', mark: 'in transit' });
    const said = Buffer.from(text.slice('holdfast.1.'.length), 'base64url').toString();
    const { secret, ...rest } = JSON.parse(said) as Record<string, unknown>;
    expect(rest).toEqual({
      ...{ resource: 'a', kind: 'mutex', permits: 1, limit: 1 },
      ...{ lineage: 'scripted:1', nth: 1 },
    });
    expect(secret).toMatch(/^[0-9a-f]{32}$/);
    expect([given?.id, given?.secret]).not.toContain(secret);
  });

  it('without a reply buries the old id, and rejects', async ({ clock, store, locks }) => {
    const lease = await locks.mutex('a').acquire();
    store.onHandOver = silence;
    const outcome = watchOutcome(lease.handOver());
    await clock.advance(5_000);
    expect(outcome.error).toMatchObject({ code: 'STORE', outcome: 'unknown' });
    const [released] = store.sent('release')[0]?.claims ?? [];
    expect(released).toMatchObject({ id: store.entered[0]?.id, unanswered: true });
    expect(released?.secret).toBeUndefined();
    expect(lease.held).toBe(false);
  });

  it.each([
    ['evicted', 'evicted'],
    ['expired', 'expired'],
    ['unknown', 'expired'],
  ] as const)('of a claim that is %s rejects with the loss', async (why, reason) => {
    const { store, locks } = setUp();
    const lease = await locks.mutex('a').acquire();
    store.onHandOver = () => ({ state: 'gone', why, detail: 'told' });
    await expect(lease.handOver()).rejects.toMatchObject({ code: 'LEASE_LOST', reason });
  });

  it('that the store answers with an error rejects with it', async ({ store, locks }) => {
    const lease = await locks.mutex('a').acquire();
    const error = failure();
    store.onHandOver = () => ({ state: 'error', error });
    await expect(lease.handOver()).rejects.toBe(error);
  });

  it('of a lease that is not held sends nothing', async ({ clock, store, locks }) => {
    const lease = await locks.mutex('a').acquire();
    await Promise.all([lease.release(), clock.rest()]);
    await expect(lease.handOver()).rejects.toMatchObject({ reason: 'released' });
    expect(store.sent('handOver')).toEqual([]);
  });

  it.each([false, true])('is waited for by close, as the lease was: %s', async (closing) => {
    const { clock, store, locks, late } = setUp();
    const lease = await locks.mutex('a').acquire();
    store.onHandOver = () => late(1_000, GIVEN);
    if (closing) void locks.close();
    const outcome = watchOutcome(lease.handOver());
    const closed = watchOutcome(locks.close());
    await clock.advance(999);
    expect([outcome.done, closed.done, store.closed]).toEqual([false, false, 0]);
    await clock.advance(1);
    expect(outcome.value).toMatch(/^holdfast/);
    await clock.rest();
    expect(closed.done).toBe(true);
  });
});

describe('handing over is refused, and the lease stays', () => {
  const UNSUPPORTED = { code: 'UNSUPPORTED', trait: 'handOver' };

  it('by a store that cannot pass a hold', async ({ store, locks }) => {
    const lease = await locks.mutex('a').acquire();
    const text = await (await locks.mutex('b').acquire()).handOver();
    Object.assign(store, { handOver: undefined });
    const before = store.calls.length;
    await expect(lease.handOver()).rejects.toMatchObject(UNSUPPORTED);
    await expect(locks.resume(text)).rejects.toMatchObject(UNSUPPORTED);
    expect([lease.held, store.calls.length]).toEqual([true, before]);
  });

  it('when its claim has no token left', async ({ clock, store, locks }) => {
    const mutex = locks.mutex('a');
    const runs = Array.from({ length: 1_022 }, () => mutex.run(() => {}));
    const [last, end] = [watchOutcome(mutex.acquire()), watchOutcome(mutex.acquire())];
    await Promise.all([...runs, clock.advance(1)]);
    const handed = watchOutcome(last.value?.release() ?? Promise.resolve());
    await clock.rest();
    expect([handed.done, end.value?.token]).toEqual([true, 1_024n + 1_023n]);
    await expect(end.value?.handOver()).rejects.toMatchObject(UNSUPPORTED);
    expect([end.value?.held, store.sent('handOver').length]).toEqual([true, 0]);
  });

  it('for once, refresh and elections', async () => {
    const [locks] = two();
    const done = once(locks, 'k', { keepFor: '1m' }, (lease) => lease.handOver());
    await expect(done).rejects.toMatchObject(UNSUPPORTED);
    const fresh = refresh(locks, 'k', { read: () => undefined, load: (lease) => lease.handOver() });
    await expect(fresh).rejects.toMatchObject(UNSUPPORTED);
    for await (const { lease } of createElection(locks, 'e').campaign()) {
      await expect(lease.handOver()).rejects.toMatchObject(UNSUPPORTED);
      break;
    }
  });
});

describe('resuming', () => {
  it('gets the lock with the next token, and knows how it came', async () => {
    const [locks, others] = two();
    const lease = await locks.mutex('a').acquire();
    const told: LockEvents['acquired'][] = [];
    others.on('acquired', (event) => told.push(event));
    const resumed = await others.resume(await lease.handOver(), { label: 'taker' });
    expect([resumed.resource, resumed.kind, resumed.held]).toEqual(['a', 'mutex', true]);
    expect(resumed.token).toBe(lease.token + 1n);
    const takeover = { reason: 'handed-over', token: lease.token };
    expect(resumed.takeover).toEqual(takeover);
    expect(told).toMatchObject([{ token: resumed.token, takeover, handOff: undefined }]);
    const { holders } = await locks.inspect('a');
    expect(holders).toMatchObject([{ holder: { label: 'taker' } }]);
    expect(holders[0]?.holder.mark).toBeUndefined();
    await resumed.release();
    expect(await locks.mutex('a').tryAcquire()).not.toBeNull();
  });

  it('keeps all others out on the way, and is the only one to get it', async () => {
    const [locks, others] = two();
    const text = await (await locks.mutex('a').acquire()).handOver();
    for (const each of [locks, others]) expect(await each.mutex('a').tryAcquire()).toBeNull();
    const outcomes = await Promise.allSettled([others.resume(text), locks.resume(text)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const late = others.resume(text);
    await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'resumed' });
  });

  it('passes from hand to hand, and each token is greater', async () => {
    const [locks, others] = two();
    let lease = await locks.mutex('a').acquire();
    const tokens = [lease.token];
    for (let i = 0; i < 5; i++) {
      lease = await (i % 2 ? locks : others).resume(await lease.handOver());
      tokens.push(lease.token);
    }
    expect(tokens).toEqual(tokens.map((_, i) => (tokens[0] ?? 0n) + BigInt(i)));
    const [last = 0n] = tokens.slice(-1);
    await lease.release();
    expect((await locks.mutex('a').acquire()).token).toBeGreaterThan(last);
  });

  it('has the permits, the limit and the whole name of the giver', async () => {
    const store = memoryStore();
    const [locks, others] = [createLocks(store, { prefix: 'p:' }), createLocks(store)];
    for (const each of [locks, others]) onTestFinished(() => each.close({ drain: 0 }));
    const some = await locks.semaphore('s', { limit: 3 }).acquire({ permits: 2 });
    const resumed = await others.resume(await some.handOver());
    expect([resumed.resource, resumed.kind, resumed.permits]).toEqual(['p:s', 'permits', 2]);
    const reader = await locks.rwLock('rw').read.acquire();
    const read = await others.resume(await reader.handOver());
    expect([read.kind, read.permits]).toEqual(['read', 1]);
    const both = await locks.rwLock('rw').read.tryAcquire();
    expect(both?.held).toBe(true);
  });

  it('finds nothing with a text that was changed, and takes nothing from who has it', async () => {
    const [locks, others] = two();
    const text = await (await locks.mutex('a').acquire()).handOver();
    const parts = JSON.parse(Buffer.from(text.slice(11), 'base64url').toString()) as object;
    const changes = [{ nth: 500 }, { kind: 'write' }, { lineage: 'other' }, { resource: 'b' }];
    for (const change of changes) {
      const said = Buffer.from(JSON.stringify({ ...parts, ...change })).toString('base64url');
      const resuming = others.resume(text.slice(0, 11) + said);
      await expect(resuming).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
    }
    expect((await others.resume(text)).held).toBe(true);
  });

  it('refuses a text with parts that no lease has, and sends nothing', async ({ store, locks }) => {
    const sound = { resource: 'a', kind: 'mutex', permits: 1, limit: 1, lineage: 'l', nth: 1_023 };
    const textOf = (parts: object): string =>
      `holdfast.1.${Buffer.from(JSON.stringify(parts)).toString('base64url')}`;
    for (const change of [{ nth: 1_024 }, { kind: 'other' }, { lineage: 7 }]) {
      expect(() => locks.resume(textOf({ ...sound, ...change }))).toThrow(/^The first argument/);
    }
    expect(store.calls).toEqual([]);
    expect((await locks.resume(textOf(sound))).held).toBe(true);
  });

  it('that gets no reply asks again by the same id, and may give up', async ({ bed }) => {
    const text = await (await bed.locks.mutex('a').acquire()).handOver();
    bed.store.onHandOver = () => Promise.reject(failure());
    const outcome = watchOutcome(bed.locks.resume(text, { wait: '2s' }));
    await bed.clock.advance(2_500);
    expect(outcome.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', resource: 'a' });
    const ids = bed.store.sent('handOver').map(({ claims: [claim] }) => claim?.id);
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids.slice(1)).size).toBe(1);
    const [released] = bed.store.sent('release')[0]?.claims ?? [];
    expect(released).toMatchObject({ id: ids[1], unanswered: true });
    expect(bed.store.entered).toHaveLength(1);
  });

  it('counts its life from its own request, and has its own maxHold', async ({ bed }) => {
    const text = await (await bed.locks.mutex('a').acquire()).handOver();
    bed.store.onHandOver = (claim) => bed.late(1_000, held({ token: 1n, leftMs: claim.ttlMs }));
    const outcome = watchOutcome(bed.locks.resume(text, { ttl: '5s', maxHold: '2s' }));
    await bed.clock.advance(1_000);
    expect(outcome.value?.remainingMs).toBeLessThanOrEqual(2_000);
    await bed.clock.advance(2_000);
    expect(outcome.value?.loss?.reason).toBe('max-hold');
  });

  it('knows how it came, though a heartbeat had to confirm enough life first', async ({ bed }) => {
    const text = await (await bed.locks.mutex('a').acquire()).handOver();
    bed.store.onHandOver = () => held({ leftMs: 4_000 });
    const outcome = watchOutcome(bed.locks.resume(text, { minHold: '5s' }));
    await bed.clock.advance(100);
    expect(bed.store.sent('renew')).toHaveLength(1);
    const takeover = { reason: 'handed-over', token: 1_024n };
    expect([outcome.value?.token, outcome.value?.takeover]).toEqual([1_025n, takeover]);
  });

  it('says nothing of the text in an error', async ({ locks }) => {
    const text = `holdfast.1.${Buffer.from('{"secret":"s"}').toString('base64url')}`;
    expect(() => locks.resume(text)).toThrow(/^The first argument must be the text/);
  });
});
