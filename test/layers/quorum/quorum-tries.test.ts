/** What a try is told where members have lost their memory. */
import { createLocks } from 'holdfast';
import { expect, it } from 'vitest';
import { claimOf, enter, scene, within } from './member-stores.ts';

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
