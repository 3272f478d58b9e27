/** What is kept of work that is done, from boot to boot, and for no longer than it should be. */
import { statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { expect } from 'vitest';
import type { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { claimOf, connect, hold, newFile, open, test } from './bed.ts';
import { FakeMachine } from './fake-machine.ts';

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
const HOUR_MS = 3_600_000;

async function keep(store: SqliteStore, resource: string, ms: number): Promise<void> {
  const claim = claimOf(resource);
  await hold(store, claim);
  expect(await store.keep(claim, { text: `done: ${resource}`, ms })).toBe(true);
  await store.release([claim]);
}

async function leftMs(store: SqliteStore, resource = 'job'): Promise<number> {
  return (await store.recall(resource))?.leftMs ?? 0;
}

/** Kept for ten hours, an hour ago, on a machine with a name for its boots or without. */
async function anHourAgo(boot: string) {
  const file = newFile();
  const machine = new FakeMachine(boot);
  const store = open(file, { machine });
  await keep(store, 'job', 10 * HOUR_MS);
  machine.pass(HOUR_US);
  await keep(store, 'short', 1000);
  expect(await leftMs(store)).toBeCloseTo(9 * HOUR_MS, -3);
  return { file, machine, store };
}

/** Two seconds, in ms: readings take some µs here. */
const ABOUT = -3;

test('a reboot takes as much of it as the machine was away', async () => {
  const { file, machine } = await anHourAgo('first');
  machine.stepWallClock(2 * HOUR_US);
  machine.reboot(20_000_000, 'second');
  const after = open(file, { machine });
  expect(await leftMs(after)).toBeCloseTo(7 * HOUR_MS, ABOUT);
  // Only the first to join moves anything.
  expect(await leftMs(open(file, { machine }))).toBeCloseTo(7 * HOUR_MS, ABOUT);
  machine.pass(7 * HOUR_US);
  expect(await after.recall('job')).toBeUndefined();
});

test('reboots one after the other take nothing', async () => {
  const { file, machine } = await anHourAgo('boot 0');
  for (let boot = 1; boot <= 20; boot++) {
    machine.reboot(boot * 1_000_000, `boot ${boot}`);
    expect(await leftMs(open(file, { machine }))).toBeCloseTo(9 * HOUR_MS, ABOUT);
  }
});

test('it neither vanishes nor gains life at a reboot that sets the wall clock back', async () => {
  const { file, machine } = await anHourAgo('first');
  for (let boot = 1; boot <= 3; boot++) {
    machine.stepWallClock(-1000 * HOUR_US);
    machine.reboot(20_000_000, `after ${boot}`);
    expect(await leftMs(open(file, { machine }))).toBeCloseTo(9 * HOUR_MS, ABOUT);
  }
});

test.each([1000, -1000])(
  'within a boot, a wall clock set by %i hours changes nothing',
  async (h) => {
    for (const boot of ['named', '']) {
      const { file, machine, store } = await anHourAgo(boot);
      machine.stepWallClock(h * HOUR_US);
      for (const each of [store, open(file, { machine })]) {
        expect(await leftMs(each)).toBeCloseTo(9 * HOUR_MS, ABOUT);
      }
      // Also when the clock was set again before the next boot, as the network does.
      machine.pass(2 * MINUTE_US);
      await keep(store, 'short', 1000);
      machine.reboot(10_000_000, boot && 'next');
      expect(await leftMs(open(file, { machine }))).toBeCloseTo(9 * HOUR_MS - 120_000, ABOUT);
    }
  },
);

test('without a name of the boot, a clock that went back proves the reboot', async () => {
  const { file, machine } = await anHourAgo('');
  machine.stepWallClock(2 * HOUR_US);
  machine.reboot(1_000_000);
  expect(await leftMs(open(file, { machine }))).toBeCloseTo(7 * HOUR_MS, ABOUT);
});

test('without a name of the boot, a reboot that does not show takes nothing too much', async () => {
  const { file, machine } = await anHourAgo('');
  // Up for a minute more than at the note, and away for a day.
  machine.stepWallClock(24 * HOUR_US);
  machine.pass(MINUTE_US);
  expect(await leftMs(open(file, { machine }))).toBeCloseTo(9 * HOUR_MS - 60_000, ABOUT);
});

test('whose turn has come keeps something, and who has outlived its claim does not', async () => {
  const machine = new FakeMachine('first');
  const store = open(newFile(), { machine });
  const [dead, next] = [claimOf('job', { ttlMs: 1_000 }), claimOf('job')];
  const [gone, heir] = [claimOf('other', { ttlMs: 1_000 }), claimOf('other')];
  await store.claim([dead, next, gone, heir]);
  machine.pass(2_000_000);
  expect(await store.keep(heir, { text: 'done', ms: HOUR_MS })).toBe(true);
  expect((await store.recall('other'))?.text).toBe('done');
  expect(await store.keep(dead, { text: 'late', ms: HOUR_MS })).toBe(false);
  expect(await store.keep(next, { text: 'done', ms: HOUR_MS })).toBe(true);
  expect((await store.recall('job'))?.text).toBe('done');
});

test('what has ended is swept, whether more is kept or not', async ({ file }) => {
  const machine = new FakeMachine('first');
  const store = open(file, { machine });
  for (let i = 0; i < 10; i++) await keep(store, `${i}`, 1000);
  const database = await connect(file);
  const count = () => database.prepare('SELECT resource FROM holdfast_record').all().length;
  machine.pass(2_000_000);
  await keep(store, 'more', HOUR_MS);
  expect(count()).toBe(9);
  machine.pass(2 * MINUTE_US);
  await hold(store, claimOf('anything'));
  expect(count()).toBe(1);
});

test('names and texts are kept apart and whole, NUL or not', async () => {
  const store = open(newFile());
  const texts = ['', '\0', 'a\0b', 'a', '\u0001', '\u00010', "it's", 'é😀'];
  for (const text of texts) {
    const claim = claimOf(`job${text}`);
    await hold(store, claim);
    await store.keep(claim, { text, ms: 60_000 });
  }
  for (const text of texts) expect((await store.recall(`job${text}`))?.text).toBe(text);
});

test('who held in a file that is gone keeps nothing in it', async ({ file }) => {
  const store = open(file);
  const claim = claimOf('job');
  await hold(store, claim);
  await rename(file, `${file}-away`);
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  expect(await store.keep(claim, { text: 'done', ms: 60_000 })).toBe(false);
  expect(await store.recall('job')).toBeUndefined();
});
