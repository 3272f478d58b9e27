/** Mutexes that come again: their rows stay, and one statement takes or leaves them. */
import { expect } from 'vitest';
import type { Claim, Store } from '../../../src/contract/store.ts';
import { listed } from '../../support/listed.ts';
import { claimOf, connect, hold, newFile, one, open, test } from './bed.ts';
import { FakeMachine } from './fake-machine.ts';

/** From the third time on, a claim and a release of the same mutex are one statement each. */
async function turns(store: Store, count = 3): Promise<bigint[]> {
  const tokens: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const claim = claimOf('job');
    tokens.push(await hold(store, claim));
    expect(await store.release([claim])).toEqual([true]);
  }
  return tokens;
}

function expectToGrow(tokens: readonly bigint[]): void {
  const sorted = [...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1));
  expect(tokens).toEqual(sorted);
}

/** The rows of all claims, and of locks that were left free. */
async function rowsOf(file: string): Promise<() => unknown[]> {
  const rows = (await connect(file)).prepare(
    'SELECT resource, place, admitted FROM holdfast_claim ORDER BY resource, place',
  );
  return () => rows.all();
}

const FREE = { resource: 'job', place: 0, admitted: 0 };
const TAKEN = { resource: 'job', place: 0, admitted: 1 };

test('the row of a mutex that comes again stays, and nobody sees it', async ({ file }) => {
  const store = open(file);
  await turns(store, 1);
  const rows = await rowsOf(file);
  expect(rows()).toEqual([]);
  await turns(store, 2);
  expect(rows()).toMatchObject([FREE]);
  expect(await store.inspect('job')).toMatchObject({ holders: [], waiters: [] });
  expect(await listed(store.list(''))).toEqual([]);
  const holder = claimOf('job', { holder: { host: 'here', pid: 7, label: 'a b', since: 1 } });
  const token = await hold(store, holder);
  expect(rows()).toMatchObject([TAKEN]);
  expect(await listed(store.list(''))).toEqual(['job']);
  const { holders } = await store.inspect('job');
  expect(holders).toMatchObject([{ number: token, ttlMs: 20_000, holder: holder.holder }]);
  expect(await one(store.claim([holder]))).toMatchObject({ state: 'held', token });
  expect(await one(store.renew([holder]))).toMatchObject({ state: 'held', token, waiters: 0 });
  expect(await store.release([holder])).toEqual([true]);
  expect(await store.release([holder])).toEqual([false]);
});

test('two programs take turns, one of them in transactions', async ({ file }) => {
  const a = open(file);
  const tokens = await turns(a);
  const b = open(file, { database: await connect(file) });
  for (let i = 0; i < 4; i++) {
    for (const store of [b, a]) tokens.push(...(await turns(store, 1)));
  }
  expectToGrow(tokens);
});

test('who waits behind a claim that took a free lock is let in', async ({ file }) => {
  const [a, b] = [open(file), open(file)];
  await turns(a);
  const [holder, waiter] = [claimOf('job'), claimOf('job')];
  const token = await hold(a, holder);
  expect(await one(b.claim([waiter]))).toMatchObject({ state: 'waiting', ahead: 1 });
  expect(await a.release([holder])).toEqual([true]);
  expect(await one(b.renew([waiter]))).toMatchObject({
    state: 'held',
    takeover: { reason: 'released', token },
  });
  await b.release([waiter]);
  expectToGrow([token, ...(await turns(a))]);
});

test('whoever has read the clock too early gets a greater number all the same', async () => {
  const file = newFile();
  const wall = Date.now() * 1000;
  const [early, late] = [new FakeMachine('first', wall), new FakeMachine('first', wall)];
  const [a, b] = [open(file, { machine: early }), open(file, { machine: late })];
  const tokens = await turns(a);
  late.pass(1_000_000);
  tokens.push(...(await turns(b)), ...(await turns(a, 1)), ...(await turns(b)));
  expectToGrow(tokens);
});

test('without a boot id, whoever knows only an old series goes on above the new one', async () => {
  const file = newFile();
  const machine = new FakeMachine('');
  const a = open(file, { machine });
  const tokens = await turns(a);
  machine.stepWallClock(3_600_000_000);
  tokens.push(...(await turns(open(file, { machine }))), ...(await turns(a)));
  expectToGrow(tokens);
});

test('a row that stayed is swept, and the numbers go on', async ({ file }) => {
  const machine = new FakeMachine('first');
  const store = open(file, { machine });
  const tokens = await turns(store);
  const rows = await rowsOf(file);
  machine.pass(61_000_000);
  tokens.push(...(await turns(store, 1)));
  await hold(store, claimOf('other'));
  expect(rows()).toMatchObject([FREE, { resource: 'other' }]);
  machine.pass(61_000_000);
  await hold(store, claimOf('third'));
  expect(rows()).toMatchObject([{ resource: 'other' }, { resource: 'third' }]);
  expectToGrow([...tokens, ...(await turns(store))]);
});

test('after its release a claim is refused, also where the lock was left free', async () => {
  const store = open(newFile());
  await turns(store);
  const late = claimOf('job');
  expect(await store.release([{ ...late, unanswered: true }])).toEqual([false]);
  expect(await one(store.claim([late]))).toMatchObject({ state: 'gone' });
  await turns(store);
});

test('a release that comes too late leaves nothing free, and the next is told', async () => {
  const file = newFile();
  const machine = new FakeMachine('first');
  const [a, b] = [open(file, { machine }), open(file, { machine })];
  await turns(a);
  const late = claimOf('job', { ttlMs: 1_000 });
  const token = await hold(a, late);
  machine.pass(2_000_000);
  expect(await a.release([late])).toEqual([false]);
  expect(await one(b.claim([claimOf('job')]))).toMatchObject({
    state: 'held',
    takeover: { reason: 'expired', token },
  });
});

test('an evicted claim leaves nothing free', async () => {
  const store = open(newFile());
  await turns(store);
  const claim = claimOf('job');
  const token = await hold(store, claim);
  expect(await store.evict('job', token, { reason: 'test', now: false })).toBe(true);
  await store.release([claim]);
  expect(await one(store.claim([claimOf('job')]))).toMatchObject({
    state: 'held',
    takeover: { reason: 'evicted', token },
  });
});

test('a lock that was left free is free to all kinds, and to several claims at once', async () => {
  const file = newFile();
  const store = open(file);
  const tokens = await turns(store);
  const permits = (): Claim => claimOf('job', { kind: 'permits', limit: 2 });
  const [first, second] = [permits(), permits()];
  tokens.push(await hold(store, first), await hold(store, second));
  expect(await one(store.claim([claimOf('job')]))).toMatchObject({ why: 'mismatch' });
  await store.release([first, second]);
  tokens.push(...(await turns(store)));
  const [holder, waiter, other] = [claimOf('job'), claimOf('job'), claimOf('other')];
  const statuses = await store.claim([holder, waiter, other]);
  expect(statuses).toMatchObject([{ state: 'held' }, { state: 'waiting' }, { state: 'held' }]);
  expect(await store.release([holder, waiter, other])).toEqual([true, true, true]);
  const rows = await rowsOf(file);
  expect(rows()).toEqual([]);
  expectToGrow([...tokens, ...(await turns(store))]);
});
