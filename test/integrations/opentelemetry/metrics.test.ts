/** What is counted and measured, and under which attributes. */
import { expect } from 'vitest';
import { failure, held, it } from '../../support/scripted-store.ts';
import { deadlocked, loseOne, putOff, tell } from './sdk.ts';

const MUTEX = { 'holdfast.lock.kind': 'mutex', 'holdfast.store': 'memory' };

const HELD = { 'holdfast.wait.why': 'held' };

function outcome(name: string, type?: string) {
  const known = { ...MUTEX, 'holdfast.outcome': name };
  return type === undefined ? known : { ...known, 'error.type': type };
}

it('counts acquisitions and their waits by outcome', async () => {
  const { locks, measured } = tell();
  const lock = locks.mutex('a');
  const lease = await lock.acquire();
  await lock.tryAcquire();
  await lock.tryRun(() => {});
  await lock.acquire({ wait: 1 }).catch(() => {});
  await lock.acquire({ signal: AbortSignal.abort() }).catch(() => {});
  await lease.release();
  await lock.run(() => {});
  const expected = [
    [outcome('acquired'), 2],
    [{ ...outcome('taken'), ...HELD }, 2],
    [{ ...outcome('timeout', 'ACQUIRE_TIMEOUT'), ...HELD }, 1],
    [outcome('aborted'), 1],
  ];
  expect(await measured('holdfast.acquisitions')).toEqual(expected);
  expect(await measured('holdfast.wait.duration')).toEqual(expected);
});

it('says which error it was, by its code', async () => {
  const { locks, measured } = tell();
  const lock = locks.mutex('a');
  await locks.close();
  await lock.acquire().catch(() => {});
  expect(await measured('holdfast.acquisitions')).toEqual([[outcome('failed', 'CLOSED'), 1]]);
});

it('knows who waits and what is held now', async () => {
  const { locks, measured } = tell();
  const now = async (): Promise<unknown[]> => [
    (await measured('holdfast.waiters'))[0]?.[1],
    (await measured('holdfast.leases'))[0]?.[1],
  ];
  const lock = locks.mutex('a');
  const lease = await lock.acquire();
  const controller = new AbortController();
  const waiters = [lock.acquire(), lock.acquire({ signal: controller.signal })] as const;
  expect(await now()).toEqual([2, 1]);
  controller.abort();
  await waiters[1].catch(() => {});
  expect(await now()).toEqual([1, 1]);
  await lease.release();
  await (await waiters[0]).release();
  expect(await now()).toEqual([0, 0]);
});

it('measures holds by how they ended, and counts losses by reason', async () => {
  const { locks, measured } = tell();
  await locks.mutex('a').run(() => {});
  await loseOne(locks);
  expect(await measured('holdfast.hold.duration')).toEqual([
    [{ ...MUTEX, 'holdfast.hold.end': 'released' }, 1],
    [{ ...MUTEX, 'holdfast.hold.end': 'lost' }, 1],
  ]);
  expect(await measured('holdfast.losses')).toEqual([
    [{ ...MUTEX, 'holdfast.loss.reason': 'evicted' }, 1],
  ]);
});

it('counts hand-offs in this process, and those through the store', async () => {
  const { locks, measured } = tell();
  const run = (fair: boolean): Promise<void> => locks.mutex('a', { fair }).run(() => {});
  await Promise.all([run(false), run(false), run(false)]);
  await Promise.all([run(true), run(true)]);
  expect(await measured('holdfast.hand_offs')).toEqual([
    [{ ...MUTEX, 'holdfast.hand_off.type': 'local' }, 2],
    [{ ...MUTEX, 'holdfast.hand_off.type': 'remote' }, 1],
  ]);
});

it('counts the heartbeats of claims, and those that failed', async ({ clock, store, locks }) => {
  const { measured } = tell({ locks });
  const all = ['a', 'b', 'c'].map((name) => locks.mutex(name).acquire());
  await clock.rest();
  await Promise.all(all);
  await clock.advance(3_400);
  store.onRenew = ({ resource }) => {
    return resource === 'b' ? { state: 'error', error: failure() } : held();
  };
  await clock.advance(3_400);
  const known = { 'holdfast.store': 'scripted' };
  expect(await measured('holdfast.heartbeats')).toEqual([
    [known, 5],
    [{ ...known, 'error.type': 'STORE' }, 1],
  ]);
});

it('counts the claims that a store without its memory does not grant', async () => {
  const { measured } = await putOff();
  expect(await measured('holdfast.quarantines')).toEqual([[{ 'holdfast.store': 'memory' }, 2]]);
});

it('counts the waits that are found in a deadlock', async () => {
  const { measured } = await deadlocked();
  expect(await measured('holdfast.deadlocks')).toEqual([[MUTEX, 1]]);
});

it('has as many series as the user names, whatever the resources are called', async () => {
  const { locks, measured } = tell({ nameOf: (resource) => resource.split(':')[0] });
  for (let n = 0; n < 50; n++) await locks.mutex(`invoice:${n}`).run(() => {});
  await locks.mutex('report').run(() => {});
  const named = (name: string) => ({ ...outcome('acquired'), 'holdfast.lock.name': name });
  expect(await measured('holdfast.acquisitions')).toEqual([
    [named('invoice'), 50],
    [named('report'), 1],
  ]);
});
