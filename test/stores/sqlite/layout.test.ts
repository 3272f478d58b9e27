/** What a file keeps from one process to the next and from one boot to the next. */
import { expect, vi } from 'vitest';
import { thisMachine } from '../../../src/clients/sqlite/machine.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { claimOf, connect, hold, newFile, one, open, test } from './bed.ts';
import { FakeMachine } from './fake-machine.ts';

const MINUTE_US = 60_000_000;

test('a reboot ends all claims, tells the next holder, and tokens go on growing', async () => {
  const file = newFile();
  const machine = new FakeMachine('first');
  const before = open(file, { machine });
  const holder = claimOf('job');
  const token = await hold(before, holder);
  await before.claim([claimOf('job')]);
  await before.release([claimOf('other', { unanswered: true })]);
  // A dead battery: the wall clock starts ten days earlier than the tokens that were granted.
  machine.reboot(20_000_000, 'second');
  machine.stepWallClock(-10 * 24 * 60 * MINUTE_US);

  const after = open(file, { machine });
  const next = await one(after.claim([claimOf('job')]));
  expect(next).toMatchObject({ state: 'held', waiters: 0, takeover: { reason: 'expired', token } });
  expect(next.state === 'held' && next.token > token).toBe(true);
  expect(await one(after.renew([holder]))).toEqual({ state: 'gone', why: 'expired' });
  expect(after.lineage).toBe(before.lineage);
});

test('the next holder is told of a reboot even if the file is first used days later', async () => {
  const file = newFile();
  const machine = new FakeMachine('first');
  const token = await hold(open(file, { machine }), claimOf('job'));
  machine.reboot(3 * 24 * 60 * MINUTE_US, 'second');
  const after = open(file, { machine });
  expect(await one(after.claim([claimOf('job')]))).toMatchObject({
    state: 'held',
    takeover: { reason: 'expired', token },
  });
  await after.close?.();
});

test('tokens go on above those that a power cut has taken out of the file', async ({ file }) => {
  const machine = new FakeMachine('first');
  const before = open(file, { machine });
  await hold(before, claimOf('other'));
  // Nothing of this is on record when the next series begins.
  machine.pass(50_000_000);
  const lost = claimOf('job');
  const token = await hold(before, lost);
  await before.release([lost]);
  machine.reboot(20_000_000, 'second');
  machine.stepWallClock(-10 * 24 * 60 * MINUTE_US);
  expect(await hold(open(file, { machine }), claimOf('job'))).toBeGreaterThan(token);
});

test('a wall clock in the far future does not use up the tokens', async () => {
  const machine = new FakeMachine('first', 2 ** 53);
  const token = await hold(open(newFile(), { machine }), claimOf('job'));
  expect(token).toBeLessThan(2n ** 52n + 10n ** 12n);
});

test('a queue goes on behind its end, even if its last claim came in the same moment', async () => {
  const file = newFile();
  const wall = Date.now() * 1000;
  const [early, late] = [new FakeMachine('first', wall), new FakeMachine('first', wall)];
  late.pass(1_000);
  const first = open(file, { machine: late });
  const second = open(file, { machine: early });
  const [holder, waiter] = [claimOf('job'), claimOf('job')];
  const token = await hold(first, holder);
  expect(await one(second.claim([waiter]))).toMatchObject({ state: 'waiting', ahead: 1 });
  await first.release([holder]);
  const next = await one(second.renew([waiter]));
  expect(next.state === 'held' && next.token > token).toBe(true);
});

test('tokens grow on a clock with long steps, whoever was there is gone', async () => {
  const began = thisMachine.nowUs();
  let looks = 0;
  const nowUs = () => began + Math.floor(looks++ / 100) * 2_000;
  const store = open(newFile(), { machine: { ...thisMachine, nowUs } });
  const tokens: bigint[] = [];
  for (let i = 0; i < 5; i++) {
    const claim = claimOf('job');
    tokens.push(await hold(store, claim));
    await store.release([claim]);
  }
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
});

test('a clock that stands still is an error, and no step goes back behind another', async () => {
  let frozen: number | undefined;
  const machine = { ...thisMachine, nowUs: () => frozen ?? thisMachine.nowUs() };
  const store = open(newFile(), { machine });
  const claim = claimOf('job');
  await hold(store, claim);
  frozen = thisMachine.nowUs();
  await store.release([claim]);
  for (const backUs of [0, 1_000_000, 1_000_000]) {
    frozen -= backUs;
    await expect(store.claim([claimOf('job')])).rejects.toThrow(
      expect.objectContaining({ code: 'STORE', retryable: true, outcome: 'failed' }),
    );
  }
  frozen = undefined;
  await hold(store, claimOf('job'));
});

test('without a boot id, a clock that went back proves the reboot', async ({ file }) => {
  const machine = new FakeMachine('');
  const token = await hold(open(file, { machine }), claimOf('job'));
  machine.reboot(1_000_000);
  const next = await one(open(file, { machine }).claim([claimOf('job')]));
  expect(next).toMatchObject({ state: 'held', takeover: { reason: 'expired', token } });
  expect(next.state === 'held' && next.token > token).toBe(true);
});

test('without a boot id, a step of the wall clock costs nobody a claim', async ({ file }) => {
  const machine = new FakeMachine('');
  const store = open(file, { machine });
  const claim = claimOf('job');
  const token = await hold(store, claim);
  machine.stepWallClock(60 * MINUTE_US);
  const other = open(file, { machine });
  expect(await one(other.claim([claimOf('job', { queue: false })]))).toMatchObject({
    why: 'refused',
  });
  expect(await one(store.renew([claim]))).toMatchObject({ state: 'held', token });
  // Both go on with the same series, although only one of them has seen its beginning.
  const tokens = [];
  for (const each of [store, other, store, other]) {
    const short = claimOf('short');
    tokens.push(await hold(each, short));
    await each.release([short]);
  }
  expect(tokens).toEqual([...tokens].sort());
});

test('without a boot id, a reboot like a step of the clock ends claims by their TTL', async () => {
  const file = newFile();
  const machine = new FakeMachine('');
  const before = open(file, { machine });
  await hold(before, claimOf('early'));
  machine.pass(50_000_000);
  await hold(before, claimOf('job', { ttlMs: 10_000 }));
  // Up for as long as then, but for some seconds, so the clock is not below its reading on record.
  machine.reboot(3_601_000_000);
  machine.stepWallClock(-60 * MINUTE_US);
  const store = open(file, { machine });
  const tried = await one(store.claim([claimOf('job', { queue: false })]));
  expect(tried).toMatchObject({ why: 'refused' });
  machine.pass(10_000_000);
  await hold(store, claimOf('job', { queue: false }));
});

test('a process in another time namespace is refused', async ({ file }) => {
  const machine = new FakeMachine('first');
  await hold(open(file, { machine }), claimOf('job'));
  machine.timeSpace = 'time:[2]';
  const message = expect.stringMatching(/time namespace/);
  await expect(open(file, { machine }).claim([claimOf('job')])).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: false, message },
  });
});

test('the machine names its boot and counts on', async () => {
  const { boot } = thisMachine.identity();
  if (process.platform === 'linux') expect(boot).toMatch(/^[0-9a-f-]{36}$/);
  const before = thisMachine.nowUs();
  expect(thisMachine.nowUs()).toBeGreaterThanOrEqual(before);
  // Uptime is read in hundredths of a second, and the wall clock a moment later.
  expect(Math.abs(thisMachine.bootedUs() - thisMachine.bootedUs())).toBeLessThan(5_000_000);
});

test('the clock of the machine does not follow its wall clock', () => {
  const before = thisMachine.nowUs();
  const spy = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 86_400_000);
  const passed = thisMachine.nowUs() - before;
  spy.mockRestore();
  // A moment has passed, but no day.
  expect(Math.abs(passed)).toBeLessThan(43_200_000_000);
});

test("the tables live beside the program's own, whose settings stay as they are", async () => {
  const file = newFile();
  const database = await connect(file);
  database.exec('PRAGMA user_version = 7; PRAGMA application_id = 8; CREATE TABLE items (name)');
  const store = sqliteStore({ database });
  await hold(store, claimOf('job'));
  await store.close?.();
  const values = database.prepare('SELECT * FROM pragma_user_version, pragma_application_id').all();
  expect(values).toMatchObject([{ user_version: 7, application_id: 8 }]);
  expect(database.prepare('PRAGMA journal_mode').all()).toMatchObject([{ journal_mode: 'delete' }]);
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  expect((tables as { name: string }[]).map(({ name }) => name).sort()).toEqual([
    ...['holdfast_claim', 'holdfast_meta', 'holdfast_record'],
    ...['holdfast_tombstone', 'items'],
  ]);
});

test('what nobody needs any more is swept', async ({ file }) => {
  const machine = new FakeMachine('first');
  const store = open(file, { machine });
  await hold(store, claimOf('abandoned', { ttlMs: 1_000 }));
  await store.release([claimOf('never entered', { ttlMs: 1_000 })]);
  const database = await connect(file);
  const count = (table: string) => database.prepare(`SELECT 1 FROM holdfast_${table}`).all().length;
  machine.pass(2 * MINUTE_US);
  await hold(store, claimOf('a minute later'));
  expect([count('claim'), count('tombstone')]).toEqual([2, 0]);
  machine.pass(25 * 60 * MINUTE_US);
  await hold(store, claimOf('a day later'));
  expect(database.prepare('SELECT resource FROM holdfast_claim').all()).toMatchObject([
    { resource: 'a day later' },
  ]);
});
