/** What a try or a claim is told where members have lost their memory, a vote or their time. */
import { createLocks, type Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { aroundStore } from 'holdfast/testkit';
import { expect, it } from 'vitest';
import { FakeClock, partsOf } from '../../support/fake-clock.ts';
import { failure, ScriptedStore, waiting } from '../../support/scripted-store.ts';
import { beat, claimOf, enter, scene, within } from './member-stores.ts';

const aTry = (): ReturnType<typeof claimOf> => claimOf({ queue: false });

it('is told of the loss if a majority has lost its memory, as are listeners', async () => {
  const { members, store, clock } = scene(5);
  for (const { memory } of members.slice(0, 3)) memory.forget();
  const lost = { state: 'gone', why: 'refused', quarantineMs: 1_000 };
  expect(await enter(store, aTry())).toMatchObject(lost);
  const locks = createLocks(store, { clock });
  const told: unknown[] = [];
  locks.on('missed', ({ waiting }) => told.push(waiting));
  expect(await within(clock, 0, locks.mutex('a').tryAcquire())).toBeNull();
  expect(told).toMatchObject([{ why: 'data-loss', leftMs: 1_000 }]);
});

it('is granted although the lowest members have lost their memory, unless it is held', async () => {
  const { members, store, clock } = scene(5);
  for (const { memory } of members.slice(0, 2)) memory.forget();
  expect(await within(clock, 0, enter(store, aTry()))).toMatchObject({ state: 'held' });
  const refused = { state: 'gone', why: 'refused', quarantineMs: undefined };
  expect(await within(clock, 0, enter(store, aTry()))).toMatchObject(refused);
});

type Members = [ScriptedStore, ScriptedStore, ScriptedStore];

it('one whose place has expired while a member is away has not met a loss of data', async () => {
  const clock = new FakeClock();
  const [room, other, away] = [1, 2, 3].map(() => new ScriptedStore(clock)) as Members;
  const store = quorum([room, other, away], { clock });
  room.onClaim = () => waiting();
  for (const each of [other, away]) each.onClaim = () => ({ state: 'gone', why: 'refused' });
  const claim = claimOf({ ttlMs: 9_000 });
  await store.watch?.(claim, () => {});
  expect(await within(clock, 100, enter(store, claim))).toMatchObject({ state: 'waiting' });

  room.onRenew = () => ({ state: 'gone', why: 'expired' });
  other.onClaim = ({ ttlMs }) => ({ state: 'held', token: 1n, leftMs: ttlMs, waiters: 0 });
  away.onClaim = () => Promise.reject(failure());
  for (const wake of room.wakes.values())
    wake({ state: 'held', token: 1n, leftMs: 9_000, waiters: 0 });
  const status = await within(clock, 5_000, beat(store, claim));
  expect(status).toMatchObject({ state: 'waiting', why: 'queue' });
  expect(status.state === 'waiting' && status.retryInMs).toBeLessThanOrEqual(claim.ttlMs);
});

it.each([
  ['a bare majority', true],
  ['all members', false],
])('what a hold by %s is worth when the clock of one steps forward', async (_, bare) => {
  const clock = new FakeClock();
  const ahead = [0, 0, 0];
  const memories = ahead.map((_ms, i) =>
    memoryStore({ clock: { ...partsOf(clock), now: () => clock.now() + (ahead[i] ?? 0) } }),
  );
  let down = bare;
  const first = aroundStore(memories[0] as Store, async (_request, next) => {
    if (down) throw new Error('The connection broke.');
    return next();
  });
  const store = quorum([first, ...memories.slice(1)], { clock });
  const [a, b] = [claimOf(), claimOf()];
  const held = await enter(store, a);
  down = false;
  ahead[1] = 60_000;
  const next = await within(clock, 100, enter(store, b));
  // The holder was not told, and its lease has seconds to go.
  expect(held).toMatchObject({ state: 'held', leftMs: 10_000 });
  expect(next.state).toBe(bare ? 'held' : 'waiting');
  // The fence still tells them apart.
  if (held.state === 'held' && next.state === 'held') {
    expect(next.token).toBeGreaterThan(held.token);
  }
});
