/** What the procedures promise whoever calls them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  asked,
  CALM,
  expectCalmStorm,
  numberOf,
  refusal,
  SETTINGS,
} from '../../methods/faults/sql-calls.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';
import { until } from '../../servers/until.ts';
import { PRODUCTS } from './fault-bed.ts';
import { Caller, install, putGateBeforeClock, step, waitsAtGate, waitsForRow } from './routines.ts';

const MINUTE_MS = 60_000;

/** Beyond what an idle resource is remembered for. */
const LONG_MS = 11 * MINUTE_MS;

const held = expect.stringMatching(/^h /);
const queued = expect.stringMatching(/^w .* queue \d+$/);

const WAYS = PRODUCTS.flatMap(([product, start]) => [
  [product, 'in JSON', start, false] as const,
  [product, 'as a store does', start, true] as const,
]);

describe.each(WAYS)('%s, called %s', (_product, _way, start, asStore) => {
  let server: MysqlServer;
  const callers: Caller[] = [];

  beforeAll(async () => {
    server = await start();
    await install(server);
  });
  afterAll(async () => {
    for (const each of callers) await each.close();
    await server.close();
  });

  async function caller(): Promise<Caller> {
    const opened = await Caller.open(server, { asStore });
    callers.push(opened);
    return opened;
  }

  /** Somebody stands still in a transaction in which this row is locked, until it is ended. */
  async function block(resource: string): Promise<() => Promise<unknown>> {
    const { connection } = await caller();
    await connection.query('start transaction');
    const lock = 'select name from holdfast_resource where name = ? for update';
    await connection.query(lock, [resource]);
    return () => connection.query('rollback');
  }

  test('who waits for a lock holds up nobody else, and not for long', async () => {
    const [one, two, three] = [await caller(), await caller(), await caller()];
    await one.claim([asked('stuck')]);
    const unblock = await block('stuck');
    const patient = two.claim([asked('stuck')], { patience: 20_000 }).then(() => 'let in');
    await until('did it wait', () => waitsForRow(server));
    const impatient = refusal(one.claim([asked('stuck')], { patience: 1000 }));
    numberOf((await three.claim([asked('free')]))[0]);
    expect(await Promise.race([patient, impatient])).toBe(1205);
    await unblock();
    expect(await patient).toBe('let in');
  });

  test('a batch waits for no row while it has others', async () => {
    const [one, two] = [await caller(), await caller()];
    const batch = ['x', 'y', 'z', 'new'].map((name) => asked(`batch ${name}`));
    const [x, , z] = batch;
    await one.claim(batch.slice(0, 3));
    const unblock = await block('batch y');
    const all = one.claim(batch, { patience: 20_000 });
    await until('did it wait', () => waitsForRow(server));
    for (const claim of [x!, z!]) numberOf((await two.renew([claim], { patience: 1000 }))[0]);
    await unblock();
    expect((await all).map(numberOf)).toHaveLength(4);
  });

  test('the time that a call waits for its lock counts', async () => {
    const [one, two] = [await caller(), await caller()];
    await one.claim([asked('late', { ttl: 1000 })]);
    const unblock = await block('late');
    const waiting = two.claim([asked('late')]);
    await until('did it wait', () => waitsForRow(server));
    // The hold ends meanwhile.
    await step(server, 2000);
    await unblock();
    numberOf((await waiting)[0]);
  });

  test('late copies of a claim that has left are told so, and let in nobody', async () => {
    const one = await caller();
    const [overtaken, released] = [asked('left'), asked('left')];
    expect(await one.release([{ ...overtaken, unanswered: true }])).toEqual(['0']);
    expect(await one.claim([overtaken])).toEqual(['g unknown ']);
    await one.claim([released]);
    expect(await one.release([{ ...released, unanswered: true }])).toEqual(['1']);
    expect(await one.claim([released])).toEqual(['g unknown ']);
    expect(await one.claim([asked('left')])).toEqual([held]);
    expect(await one.claim([released])).toEqual(['g unknown ']);
  });

  test('whoever comes stands behind those who wait, even if it would fit', async () => {
    const one = await caller();
    const permits = (n: number) => asked('permits', { kind: 'p', permits: n, limit: 2 });
    expect(await one.claim([permits(1)])).toEqual([held]);
    expect(await one.claim([permits(2)])).toEqual([queued]);
    expect(await one.claim([permits(1)])).toEqual([queued]);
  });

  test('who leaves lets in the first that lives, and nobody if he only waited', async () => {
    const one = await caller();
    const [holder, first, next] = [
      asked('passed'),
      asked('passed', { ttl: 1000 }),
      asked('passed'),
    ];
    const [gone, last] = [asked('passed'), asked('passed')];
    const queue = [holder, first, gone, next, last];
    const lines: string[] = [];
    for (const claim of queue) lines.push(...(await one.claim([claim])));
    expect(lines).toEqual([held, queued, queued, queued, queued]);
    expect(await one.release([gone])).toEqual(['1']);
    expect(await one.claim([first])).toEqual([queued]);
    await step(server, 2000);
    expect(await one.release([holder])).toEqual(['1']);
    const released = ` released ${numberOf(lines[0])}`;
    expect(await one.claim([next])).toEqual([expect.stringMatching(`^h .*${released}$`)]);
    expect(await one.claim([last])).toEqual([queued]);
  });

  test('whoever comes finds out that the holder is dead, and lets in the first', async () => {
    const one = await caller();
    const claims = [asked('found', { ttl: 1000 }), asked('found'), asked('found')];
    for (const claim of claims.slice(0, 2)) await one.claim([claim]);
    await step(server, 2000);
    // One is before it: the one that waited.
    expect(await one.claim(claims.slice(2))).toEqual([expect.stringMatching(/^w \d+ 1 - queue/)]);
  });

  test('so many wait and no more', async () => {
    const one = await caller();
    for (const expected of [held, queued, queued, 'g full maxWaiters is 2']) {
      expect(await one.claim([asked('full')], { maxWaiters: 2 })).toEqual([expected]);
    }
  });

  test('a heartbeat revives nothing, and a release frees nothing that is not its own', async () => {
    const one = await caller();
    const [dead, living] = [asked('dead', { ttl: 1000 }), asked('living')];
    await one.claim([dead, living]);
    await step(server, 2000);
    expect(await one.renew([dead, living])).toEqual(['g expired ', held]);
    expect(await one.release([asked('living')])).toEqual(['0']);
    expect(await one.claim([asked('living', { queue: false })])).toEqual(['g refused ']);
  });

  test('what is idle goes after ten minutes, and its numbers are not given again', async () => {
    const one = await caller();
    const claims = [asked('swept'), asked('swept too')];
    const before = (await one.claim(claims)).map(numberOf);
    await one.release(claims);
    const rows = () => server.query(`select name from holdfast_resource where name like 'swept%'`);
    // The first one remembers the numbers.
    for (const _ of [1, 2]) await one.sweep();
    expect(await rows()).toHaveLength(2);
    await step(server, LONG_MS);
    for (const _ of [1, 2]) await one.sweep();
    expect(await rows()).toEqual([]);
    // An hour back.
    await step(server, -60 * MINUTE_MS);
    const alone = await one.claim([asked('swept')]);
    const together = await one.claim([asked('swept too'), asked('another')]);
    for (const number of [...alone, ...together].map(numberOf)) {
      for (const each of before) expect(number).toBeGreaterThan(each);
    }
    await step(server, 60 * MINUTE_MS);
  });

  test('a sweep takes all there is, a portion at a time, but what others have', async () => {
    const [one, other] = [await caller(), await caller()];
    const names = Array.from({ length: 1200 }, (_, n) => `('old ${n}', 'm', ${n})`).join();
    await server.query(`insert into holdfast_resource (name, kind, number) values ${names}`);
    await server.query('update holdfast_sweeping set name = null, due = 0');
    const unblock = await block('old 7');
    expect(await one.sweep()).toBe(true);
    // One at a time.
    await other.connection.query('start transaction');
    await other.connection.query('select name from holdfast_sweeping for update');
    expect(await one.sweep()).toBe(false);
    await other.connection.query('rollback');
    while (await one.sweep());
    const left = async (): Promise<number> =>
      (await server.query(`select name from holdfast_resource where name like 'old %'`)).length;
    expect(await left()).toBe(1);
    await unblock();
    // The next round is a minute later.
    expect(await one.sweep()).toBe(false);
    expect(await left()).toBe(1);
  });

  test('records that are over go with those that come, and with a sweep', async () => {
    const [one, other] = [await caller(), await caller()];
    const past = ['a', 'b', 'c', 'd', 'e'].map((name) => `('past ${name}', '', 1)`).join();
    await server.query(`insert into holdfast_kept (name, content, until) values ${past}`);
    const like = `from holdfast_kept where name like 'past%'`;
    const left = async (): Promise<number> => (await server.query(`select name ${like}`)).length;
    const claim = asked('keeps');
    expect(await one.keep(claim, { text: 'x', ms: MINUTE_MS })).toBe('0');
    expect(await left()).toBe(5);
    await one.claim([claim]);
    expect(await one.keep(claim, { text: 'x', ms: MINUTE_MS })).toBe('1');
    expect(await left()).toBe(3);
    // Whoever has one of them locked is not waited for.
    await other.connection.query('start transaction');
    const row = `name = 'past e'`;
    await other.connection.query(`select name from holdfast_kept where ${row} for update`);
    await one.sweep();
    expect(await left()).toBe(1);
    await other.connection.query('rollback');
    expect(await one.keep(claim, { text: '', ms: 0 })).toBe('1');
    expect(await server.query('select name from holdfast_kept')).toEqual([]);
  });

  test('to evict from a name without a row changes nothing, whoever comes meanwhile', async () => {
    const [one, evictor, leaving] = [await caller(), await caller(), await caller()];
    const [first, next] = [asked('without'), asked('without')];
    const change = { verb: 'evict', resource: 'without', number: '5', reason: 'test', now: false };
    await one.claim([asked('recorded')]);
    await putGateBeforeClock(server);
    await one.connection.query("select get_lock('gate', 0)");
    await evictor.connection.query('set @gate = true');
    let over = false;
    const evicting = evictor.connection
      .query('call holdfast_change(?, ?)', [JSON.stringify(SETTINGS), JSON.stringify(change)])
      .finally(() => (over = true));
    await until('was it over, or at the gate', async () => over || (await waitsAtGate(server)));
    expect(await one.claim([first])).toEqual([held]);
    expect(await one.claim([next])).toEqual([queued]);
    // A release begins, while the other one goes on with what it has seen.
    const lock = 'select name from holdfast_resource where name = ? for update';
    await leaving.connection.query('start transaction');
    await leaving.connection.query(lock, ['without']);
    await one.connection.query("select release_lock('gate')");
    await until('was it over, or did it wait', async () => over || (await waitsForRow(server)));
    const pass = "call holdfast_pass('without', ?, '-', @rings, @line, @told)";
    await leaving.connection.query("set @rings = ''");
    await leaving.connection.query(pass, [first.id]);
    await leaving.connection.query('commit');
    await evicting;
    expect(await one.release([next])).toEqual(['1']);
    expect(await one.claim([asked('without', { queue: false })])).toEqual([held]);
  });

  test('a server that is read-only is refused, whoever asks', async () => {
    const one = await caller();
    await server.query('set global read_only = 1');
    expect(await refusal(one.claim([asked('read-only')]))).toBe(1836);
    await server.query('set global read_only = 0');
    expect(await one.claim([asked('read-only')])).toEqual([held]);
  });

  test('sixteen sessions with batches that overlap never meet in a deadlock', CALM, async () => {
    await expectCalmStorm(async (n) => {
      const session = await caller();
      // Not what the procedures would choose.
      const level = n % 2 ? 'serializable' : 'repeatable read';
      await session.connection.query(`set session transaction isolation level ${level}`);
      await session.connection.query(`set autocommit = ${n % 3 === 0 ? 0 : 1}`);
      return session;
    });
    expect(await server.query('select * from holdfast_claim')).toEqual([]);
  });
});
