/** Asked as node-cron asks: for a key that is the name of a task and its scheduled time. */
import type { Locks } from 'holdfast';
import { runCoordinator } from 'holdfast/node-cron';
import { expect, it } from 'vitest';
import { setUp } from '../../jobs/bed.ts';
import * as scripted from '../../support/scripted-store.ts';

const RUN = 'report:2026-11-23T03:00:00.000Z';
const NEXT = 'report:2026-11-23T03:00:01.000Z';
/** The default of node-cron. */
const LEASE_MS = 30_000;

/** Of two instances. */
function twoCoordinators() {
  const bed = setUp();
  return { ...bed, bed, one: runCoordinator(bed.locks), two: runCoordinator(bed.other) };
}

it('lets one of two instances run', async () => {
  const { one, two } = twoCoordinators();
  const asked = [one, two].map((each) => each.shouldRun(RUN, LEASE_MS));
  expect((await Promise.all(asked)).filter(Boolean)).toEqual([true]);
  expect(await two.shouldRun(NEXT, LEASE_MS)).toBe(true);
});

it('does not repeat a quick run where the clock is behind, by less than the lease', async () => {
  const { clock, one, two } = twoCoordinators();
  expect(await one.shouldRun(RUN, LEASE_MS)).toBe(true);
  await one.onComplete(RUN);
  await clock.advance(LEASE_MS - 100);
  expect(await two.shouldRun(RUN, LEASE_MS)).toBe(false);
  await clock.advance(200);
  expect(await two.shouldRun(RUN, LEASE_MS)).toBe(true);
});

it('keeps a run from others for as long as it takes', async () => {
  const { clock, one, two } = twoCoordinators();
  expect(await one.shouldRun(RUN, LEASE_MS)).toBe(true);
  await clock.advance(3_600_000);
  expect(await two.shouldRun(RUN, LEASE_MS)).toBe(false);
  await one.onComplete(RUN);
});

it('does not repeat the run of a process that has died, while others may ask', async () => {
  const { bed, clock, one, two } = twoCoordinators();
  bed.around = ({ verb }, next) => (verb === 'renew' ? scripted.silence() : next());
  expect(await one.shouldRun(RUN, LEASE_MS)).toBe(true);
  await clock.advance(LEASE_MS - 100);
  expect(await two.shouldRun(RUN, LEASE_MS)).toBe(false);
  await one.onComplete(RUN);
});

it('takes a lease that is longer than maxTtl for maxTtl', async () => {
  const { clock, one, two } = twoCoordinators();
  expect(await one.shouldRun(RUN, 3_600_000)).toBe(true);
  await one.onComplete(RUN);
  await clock.advance(29_000);
  expect(await two.shouldRun(RUN, 3_600_000)).toBe(false);
});

it('rejects when the store grants the run to nobody, so that node-cron tells of it', async () => {
  const { clock, store, locks } = setUp();
  const coordinator = runCoordinator(locks);
  store.forget();
  const asked = coordinator.shouldRun(RUN, LEASE_MS);
  await expect(asked).rejects.toMatchObject({ code: 'STORE' });
  await expect(asked).rejects.toThrow(/granted "cron:report:.*" to no instance/);
  await clock.advance(31_000);
  expect(await coordinator.shouldRun(RUN, LEASE_MS)).toBe(true);
});

it('tries again where a try may fail although nobody holds the lock, three times', async () => {
  const { locks, store } = scripted.setUp({ atomicTry: false });
  const coordinator = runCoordinator(locks);
  const grant = store.onClaim;
  let left = 2;
  store.onClaim = (...asked) => (left-- > 0 ? { state: 'gone', why: 'refused' } : grant(...asked));
  expect(await coordinator.shouldRun(RUN, LEASE_MS)).toBe(true);
  left = 3;
  await expect(coordinator.shouldRun(NEXT, LEASE_MS)).rejects.toThrow(/to no instance/);
});

it('ends runs that it does not know', async () => {
  await expect(twoCoordinators().one.onComplete('other')).resolves.toBe(undefined);
});

it('refuses what are no locks', () => {
  const make = () => runCoordinator({} as Locks);
  expect(make).toThrow(expect.objectContaining({ code: 'USAGE' }));
});
