/** A claim that can have no majority now is told when to ask again, and no tale. */
import { quorum } from 'holdfast/quorum';
import { expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { failure, ScriptedStore, waiting } from '../../support/scripted-store.ts';
import { beat, claimOf, enter, within } from './member-stores.ts';

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
