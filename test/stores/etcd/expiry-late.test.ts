/**
 * Requests that were given up, and are carried out when all that speaks against them has passed:
 * their claims do not live on with others on the same lease.
 */
import { expect } from 'vitest';
import { entryOf } from '../../clients/etcd/scene.ts';
import { claimOf, inBeds } from '../../methods/faults/bed.ts';
import { mortal } from '../../methods/faults/expiry.ts';
import { sharedServer } from './fault-bed.ts';
import { LossyScene } from './lossy-scene.ts';

const server = await sharedServer();

const inBed = inBeds(() => new LossyScene(server));

inBed('a claim that comes after its tombstone has passed enters no queue', async (scene) => {
  const [kept, late] = await scene.keptAndLate();
  expect(await scene.lossy.release([{ ...late, unanswered: true }])).toEqual([false]);
  const tombstone = scene.keys.tombstone(late.id);
  expect(await entryOf(scene.client, tombstone)).toBeDefined();
  await scene.beating([kept], async () => (await entryOf(scene.client, tombstone)) === undefined);
  await scene.arrive();
  expect(await scene.stands(late)).toBe(false);
  // Others come and go as before, on the same lease.
  const next = mortal('next');
  expect(await scene.lossy.claim([next])).toMatchObject([{ state: 'held' }]);
  expect(await scene.leaseOf(next)).toBe(await scene.leaseOf(kept));
});

inBed('so does one whose release was lost as well', async (scene) => {
  const [kept, late] = await scene.keptAndLate();
  await scene.releaseInVain(late);
  await scene.aHeartbeat(kept);
  await scene.arrive();
  expect(await scene.stands(late)).toBe(false);
});

inBed('one that came too early for that is deleted with the next heartbeat', async (scene) => {
  const [kept, late] = await scene.keptAndLate();
  await scene.lossy.release([late]);
  // As if its time had passed.
  await scene.client.txn({ success: [{ delete: { key: scene.keys.tombstone(late.id) } }] });
  await scene.arrive();
  expect(await scene.stands(late)).toBe(true);
  await scene.beating([kept], async () => !(await scene.stands(late)));
});

inBed('a claim that was made again is not deleted, and comes but once', async (scene) => {
  const [kept, again] = await scene.keptAndLate();
  const [status] = await scene.lossy.claim([again]);
  await scene.aHeartbeat(kept, again);
  await scene.arrive();
  await scene.aHeartbeat(kept, again);
  expect(await scene.lossy.renew([again])).toMatchObject([status && { state: status.state }]);
  expect(await scene.lossy.release([again])).toEqual([true]);
  await scene.arrive();
  expect(await scene.stands(again)).toBe(false);
});

inBed('claims that miss the mark of their lease are sent again', async (scene) => {
  const kept = claimOf('kept');
  await scene.lossy.claim([kept]);
  const lease = await scene.leaseOf(kept);
  const mark = { put: { key: scene.keys.mark(lease), value: '', lease } };
  await scene.client.txn({ success: [mark] });
  expect(await scene.lossy.claim([claimOf('a')])).toMatchObject([{ state: 'held' }]);
  await scene.client.txn({ success: [mark] });
  const others = [claimOf('kept'), claimOf('b'), claimOf('c')];
  const states = (await scene.lossy.claim(others)).map(({ state }) => state);
  expect(states).toEqual(['waiting', 'held', 'held']);
  await scene.client.txn({ success: [mark] });
  const tries = [claimOf('kept', { queue: false }), claimOf('d', { queue: false })];
  expect(await scene.lossy.claim(tries)).toMatchObject([
    { state: 'gone', why: 'refused' },
    { state: 'held' },
  ]);
});

inBed('a lease that ends with its mark is replaced at once', async (scene) => {
  const [kept] = await scene.keptAndLate();
  await scene.aHeartbeat(kept);
  await scene.client.revoke(await scene.leaseOf(kept));
  const next = [mortal('next'), mortal('more')];
  expect(await scene.lossy.claim(next)).toMatchObject([{ state: 'held' }, { state: 'held' }]);
  expect(await scene.lossy.renew([kept])).toEqual([{ state: 'gone', why: 'expired' }]);
});

inBed('a claim that was found again ends with the others of its lease', async (scene) => {
  const [kept, late] = await scene.keptAndLate();
  await scene.aHeartbeat(kept);
  await scene.client.revoke(await scene.leaseOf(kept));
  const [other, left] = [mortal('other'), mortal('left')];
  await scene.lossy.claim([other]);
  // The one is put on the lease of the other, and tried again because that of the third is gone.
  const states = (await scene.lossy.claim([left, late])).map(({ state }) => state);
  expect(states).toEqual(['held', 'held']);
  expect(await scene.leaseOf(left)).toBe(await scene.leaseOf(other));
  await scene.beating([other], async () => !(await scene.stands(left)));
});

inBed('a hold that was handed over ends with a release that is sent again', async (scene) => {
  const [giver, taker] = [mortal('passed'), { ...claimOf('passed'), unanswered: true }];
  const way = 'f'.repeat(32);
  await scene.lossy.claim([giver]);
  await scene.lossy.handOver?.(giver, { from: giver.id, to: way });
  const taken = await scene.lossy.handOver?.(taker, { from: way, to: taker.id });
  expect(taken?.state).toBe('held');
  await scene.releaseInVain(taker);
  expect(await scene.lossy.release([taker])).toEqual([true]);
  expect((await scene.lossy.inspect('passed')).holders).toEqual([]);
});
