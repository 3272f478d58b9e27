/** What pages are told, and what it costs the store. */
import { createLocks, detectDeadlocks, type Mutex } from 'holdfast';
import { createElection } from 'holdfast/election';
import { once } from 'holdfast/once';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Board } from '../../src/dashboard/board.ts';
import { isOf, kindOf, kindText, waitingSince } from '../../src/dashboard/ui/text.ts';
import type { QueueRow } from '../../src/dashboard/wire.ts';
import { gate } from '../support/gate.ts';
import { ask, BEARER, evict, evictionOf, openSilently, Page, start } from './bed.ts';

const TERMS = { heartbeat: false, ttl: '30s' } as const;

it('shows queues in order, without claim ids', async () => {
  const { url, locks, others } = await start();
  await others.mutex('stock').acquire({ label: 'first' });
  const waits = new AbortController();
  const { signal } = waits;
  const waiting = async () => (await locks.inspect('stock')).waiters.length;
  const second = others.mutex('stock', { fair: true }).acquire({ label: 'b', signal });
  second.catch(() => {});
  await expect.poll(waiting).toBe(1);
  const third = locks.mutex('stock').acquire({ label: 'c', signal });
  third.catch(() => {});
  await expect.poll(waiting).toBe(2);
  const page = await Page.loaded(url);
  const row = page.rows.get('stock');
  expect(row).toMatchObject({ name: 'stock', limit: 1, holding: 1, waiting: 2 });
  expect(row?.seats.map(({ label, holds }) => [label, holds])).toEqual([
    ['first', true],
    ['b', false],
    ['c', false],
  ]);
  const keys = 'endsAt holds host kind label permits pid since token ttlMs';
  expect(Object.keys(row?.seats[0] ?? {}).sort()).toEqual(keys.split(' '));
  waits.abort();
  await Promise.allSettled([second, third]);
});

it('shows who leads in an election and who stands by, which is no wait', async () => {
  const { url, others } = await start();
  const election = createElection(others, 'scheduler');
  const [first, second] = ['first', 'second'].map((label) => election.campaign({ label }));
  const page = new Page(url);
  await expect.poll(() => page.rows.get('scheduler')?.waiting).toBe(1);
  const row = page.rows.get('scheduler') as QueueRow;
  expect([kindOf(row), kindText(row)]).toEqual(['election', 'election']);
  expect(waitingSince(row)).toBeUndefined();
  const filters = ['all', 'election', 'permits', 'waited for'] as const;
  expect(filters.filter((filter) => isOf(filter, row))).toEqual(['all', 'election']);
  const gpu = await others.semaphore('gpu', { limit: 2 }).acquire();
  await expect.poll(() => page.rows.has('gpu')).toBe(true);
  const seats = page.rows.get('gpu') as QueueRow;
  expect([kindText(seats), isOf('permits', seats)]).toEqual(['semaphore · 1 of 2', true]);
  await Promise.all([gpu.release(), first?.resign(), second?.resign()]);
});

it('tells of grants, hand-offs and ends, exactly where the process itself has them', async () => {
  const { url, locks, others } = await start();
  const page = await Page.loaded(url);
  const mine = await locks.mutex('stock').acquire();
  const theirs = others.mutex('stock').acquire();
  await expect.poll(() => page.told).toContain('stock waits');
  await mine.release();
  await expect.poll(() => page.told).toContain('stock handed on');
  await (await theirs).release();
  await expect.poll(() => page.told).toContain('stock gone');
  expect(page.told).toEqual([
    ...['stock granted', 'stock waits', 'stock released', 'stock handed on', 'stock gone'],
  ]);
  expect(page.last?.rates).toMatchObject({ grants: 2, losses: 0 });
  expect(page.rows.size).toBe(0);
});

it('takes the time of a hand-off only where no other process can have been between', async () => {
  const { url, locks, others } = await start();
  const page = await Page.loaded(url);
  await (await locks.mutex('stock').acquire()).release();
  const theirs = await others.mutex('stock').acquire();
  const mine = locks.mutex('stock').acquire();
  await expect.poll(() => page.told).toContain('stock waits');
  await theirs.release();
  const held = await mine;
  await expect.poll(() => page.told).toContain('stock handed on');
  expect(page.last?.rates.handOffMs).toBeNull();
  const next = locks.mutex('stock').acquire();
  await held.release();
  await next;
  await expect.poll(() => page.last?.rates.handOffMs).toBeGreaterThanOrEqual(0);
});

it('lets nothing on the way hold a stream back', async () => {
  const { url, server } = await start();
  const { incoming } = await openSilently(server, url);
  expect(incoming.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
});

it('asks the store as often for ten pages as for one, and not at all for none', async () => {
  const { url, others, store } = await start();
  await others.mutex('stock', TERMS).acquire();
  const pages = Array.from({ length: 10 }, () => new Page(url));
  await expect.poll(() => pages.every(({ isLoaded }) => isLoaded)).toBe(true);
  store.reset();
  const [first] = pages as [Page];
  const before = first.frames.length;
  await expect.poll(() => first.frames.length - before).toBeGreaterThan(5);
  const looks = store.count('list').requests;
  // Each look lists the names, and the published waits.
  expect(looks).toBeLessThanOrEqual(2 * (first.frames.length - before + 1));
  for (const page of pages) page.leave();
  // A look may still be under way when they leave, and is the last.
  const looksOn = async (): Promise<number> => {
    store.reset();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return store.count('list').requests;
  };
  await expect.poll(looksOn).toBe(0);
});

it('tells each page only what is new', async () => {
  const { url, others } = await start();
  const names = Array.from({ length: 1_200 }, (_, n) => `account:${n}`);
  await Promise.all(names.map((name) => others.mutex(name, TERMS).acquire()));
  const page = await Page.loaded(url);
  expect(page.rows.size).toBe(1_200);
  const before = page.frames.length;
  await others.mutex('new', TERMS).acquire();
  await expect.poll(() => page.rows.has('new')).toBe(true);
  expect(page.frames.slice(before).flatMap(({ rows }) => rows)).toHaveLength(1);
});

it('a page that does not read costs little, and is told of the newest later', async () => {
  const { url, others, server } = await start();
  const [quick, silent] = [new Page(url), await openSilently(server, url)];
  const names = Array.from({ length: 1_000 }, (_, n) => `${n}${'x'.repeat(480)}`);
  let last = '';
  for (let round = 0; round < 8; round += 1) {
    const leases = await Promise.all(names.map((name) => others.mutex(name, TERMS).acquire()));
    last = String(leases.at(-1)?.token);
    await expect.poll(() => quick.rows.get(names.at(-1) ?? '')?.seats[0]?.token).toBe(last);
    if (round < 7) await Promise.all(leases.map((lease) => lease.release()));
  }
  // Each round has 700 kB.
  expect(silent.response.writableLength).toBeLessThan(1_000_000);
  let text = '';
  silent.incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await expect.poll(() => text.includes(`"token":"${last}"`)).toBe(true);
});

it('is not stopped by a lock that another program calls as its prefix is', async () => {
  const { url, store, others } = await start();
  const bare = createLocks(store);
  onTestFinished(() => bare.close({ drain: 0 }));
  await bare.mutex('shop:').acquire();
  await others.mutex('stock').acquire();
  const page = new Page(url);
  await expect.poll(() => [...page.rows.keys()]).toEqual(['stock']);
  expect(page.last?.away).toBeNull();
});

it('tells of a deadlock that is confirmed, and of no wait beyond its prefix', async () => {
  const { url, others } = await start({ prefix: 'account:' });
  detectDeadlocks(others, { after: 100 });
  const [first, second] = [others.mutex('account:1'), others.mutex('account:2')];
  const over = new AbortController();
  const { signal } = over;
  const both = (a: Mutex, b: Mutex) => a.run(() => b.run({ signal }, () => {}));
  const hidden = others.mutex('secret');
  const lease = await hidden.acquire();
  const tasks = [
    both(first, second),
    both(second, first),
    others.mutex('account:3').run(() => hidden.run({ signal }, () => {})),
  ];
  const page = new Page(url);
  const sure = () => page.last?.waits.map(({ deadlocked }) => deadlocked);
  await expect.poll(sure).toEqual([true, true]);
  const waits = page.last?.waits.map(({ holds, name }) => [...holds.map((one) => one.name), name]);
  expect(waits?.sort()).toEqual([
    ['account:1', 'account:2'],
    ['account:2', 'account:1'],
  ]);
  over.abort();
  await Promise.allSettled(tasks);
  await lease.release();
});

it('shows the first rows before the first look has read all', async () => {
  const { url, others, store } = await start();
  const names = Array.from({ length: 600 }, (_, n) => `account:${n}`);
  await Promise.all(names.map((name) => others.mutex(name, TERMS).acquire()));
  const rest = gate();
  const { list } = store;
  store.list = async function* (prefix) {
    let listed = 0;
    for await (const name of list?.call(store, prefix) ?? []) {
      listed += 1;
      if (listed > 550) await rest.opened;
      yield name;
    }
  };
  const page = new Page(url);
  await expect.poll(() => page.rows.size).toBe(500);
  expect(page.isLoaded).toBe(false);
  rest.open();
  await expect.poll(() => page.isLoaded).toBe(true);
  expect(page.rows.size).toBe(600);
  expect(page.lines).toEqual([]);
});

it('compares each row twice at the first look, however many there are', async () => {
  const { url, others } = await start();
  const names = Array.from({ length: 1_500 }, (_, n) => `account:${n}`);
  await Promise.all(names.map((name) => others.mutex(name, TERMS).acquire()));
  const add = vi.spyOn(Board.prototype, 'add');
  onTestFinished(() => add.mockRestore());
  const page = await Page.loaded(url);
  expect(page.rows.size).toBe(1_500);
  const compared = add.mock.calls.map(([rows]) => rows.size);
  expect(compared.slice(0, 4)).toEqual([500, 500, 500, 1_500]);
});

it('tells which names are granted most, also those that are free by now', async () => {
  const { url, locks, others } = await start();
  const page = await Page.loaded(url);
  for (let times = 0; times < 3; times += 1) await locks.mutex('busy').run(() => {});
  await others.mutex('quiet').acquire();
  const busiest = () => page.last?.rates.busiest;
  await expect.poll(busiest).toEqual([
    { name: 'busy', grants: 3 },
    { name: 'quiet', grants: 1 },
  ]);
  expect(page.rows.has('busy')).toBe(false);
});

it('does not say that nothing is held before a look has succeeded', async () => {
  const { url, others, store } = await start();
  await others.mutex('stock').acquire();
  let fails = true;
  const { list } = store;
  store.list = (prefix) => {
    if (fails) throw new Error('It is away.');
    return list?.call(store, prefix) as AsyncIterable<string>;
  };
  const page = new Page(url);
  await expect.poll(() => page.last?.away).toContain('It is away.');
  expect(page.isLoaded).toBe(false);
  fails = false;
  await expect.poll(() => page.isLoaded).toBe(true);
  expect([...page.rows.keys()]).toEqual(['stock']);
});

it('says who did the work of a key, and not what came of it', async () => {
  const { url, others } = await start();
  const record = async (name: string) =>
    ask(`${url}record?name=${encodeURIComponent(name)}`, { headers: BEARER });
  expect((await record('once:a')).text).toBe('null');
  await once(others, 'a', { keepFor: '1d', keepResult: true }, () => 'secret');
  const { text } = await record('once:a');
  expect(JSON.parse(text)).toMatchObject({ pid: process.pid, label: 'till' });
  expect(text).not.toContain('secret');
  expect((await record('stock')).status).toBe(400);
});

it('shows, tells, counts and evicts nothing beyond its prefix', async () => {
  const { url, locks } = await start({ prefix: 'account:', readOnly: false });
  const page = await Page.loaded(url);
  const other = await locks.mutex('secret').acquire();
  await locks.mutex('account:1').acquire();
  await expect.poll(() => page.told).toContain('account:1 granted');
  expect([...page.rows.keys(), ...page.told].filter((text) => text.includes('secret'))).toEqual([]);
  expect(page.last?.rates.grants).toBe(1);
  expect((await evict(url, evictionOf('secret', other.token))).status).toBe(400);
  expect((await ask(`${url}record?name=once:a`, { headers: BEARER })).status).toBe(400);
  expect((await locks.inspect('secret')).holders).toHaveLength(1);
});
