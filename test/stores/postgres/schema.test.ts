/** What the routines promise whoever calls them, at whatever isolation. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALM, expectCalmStorm } from '../../methods/faults/sql-calls.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { until } from '../../servers/until.ts';
import { asked, Caller, install, numberOf, refusal } from './routines.ts';

let server: PostgresServer;
const callers: Caller[] = [];

beforeAll(async () => {
  server = await startPostgres();
  await install(server);
});
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.close()));
  await server.close();
});

async function caller(): Promise<Caller> {
  const opened = await Caller.open(server);
  callers.push(opened);
  return opened;
}

describe.each(['REPEATABLE READ', 'SERIALIZABLE'])('a session at %s', (isolation) => {
  const stale = async (): Promise<Caller> => {
    const session = await caller();
    await session.client.query(`begin isolation level ${isolation}`);
    await session.client.query('select from holdfast.store');
    return session;
  };

  test('is refused what was claimed after it looked, for the first time or again', async () => {
    const other = await caller();
    for (const resource of [`${isolation} new`, `${isolation} new`]) {
      const session = await stale();
      const [claim, late] = [asked(resource), asked(resource)];
      numberOf((await other.claim([claim]))[0]);
      expect(await refusal(session.claim([late]))).toBe('40001');
      await session.client.query('rollback');
      await other.release([claim]);
    }
  });

  test('cannot take for dead what has been renewed', async () => {
    const other = await caller();
    // Short, so that it would be dead without the heartbeat.
    const [holder, waiter] = [0, 1].map(() => asked(`${isolation} renewed`, { ttl: 1000 }));
    await other.claim([holder!]);
    await other.claim([waiter!]);
    const session = await stale();
    await other.renew([{ ...holder!, ttl: 30_000 }]);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await refusal(session.claim([asked(`${isolation} renewed`)]))).toBe('40001');
    await session.client.query('rollback');
  });
});

test('a grant is nobody else’s before it is committed, and nobody’s if it is not', async () => {
  const [one, two] = [await caller(), await caller()];
  await one.client.query('begin');
  await one.claim([asked('uncommitted')]);
  const other = asked('uncommitted', { queue: false });
  expect(await refusal(two.claim([other], { patience: 200 }))).toBe('55P03');
  await one.client.query('rollback');
  numberOf((await two.claim([other]))[0]);
});

test('who waits for a lock holds up nobody else, and not for long', async () => {
  const [stuck, one, two] = [await caller(), await caller(), await caller()];
  await stuck.client.query('begin');
  await stuck.claim([asked('stuck')]);
  const waiting = refusal(one.claim([asked('stuck')], { patience: 1500 }));
  numberOf((await two.claim([asked('free')]))[0]);
  expect(await waiting).toBe('55P03');
  await stuck.client.query('rollback');
});

test('a batch waits for no row while it has others', async () => {
  const [stuck, one, two] = [await caller(), await caller(), await caller()];
  const batch = ['x', 'y', 'z', 'new'].map((name) => asked(`batch ${name}`));
  const [x, , z] = batch;
  await one.claim(batch.slice(0, 3));
  await stuck.client.query('begin');
  await stuck.client.query(`select from holdfast.resource where name = 'batch y' for update`);
  const all = one.claim(batch);
  const waits = `select from pg_stat_activity where wait_event_type = 'Lock'`;
  await until('did it wait', async () => (await server.query(waits)).length > 0);
  for (const claim of [x!, z!]) numberOf((await two.renew([claim], { patience: 200 }))[0]);
  await stuck.client.query('rollback');
  expect((await all).map(numberOf)).toHaveLength(4);
});

test('the time that a call waits for its lock counts', async () => {
  const [stuck, one, two] = [await caller(), await caller(), await caller()];
  await one.claim([asked('late', { ttl: 600 })]);
  await stuck.client.query('begin');
  await stuck.client.query(`select from holdfast.resource where name = 'late' for update`);
  const waiting = two.claim([asked('late')]);
  // The hold ends meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 700));
  await stuck.client.query('rollback');
  numberOf((await waiting)[0]);
});

test('who has died waiting is passed over by a release, and hears nothing', async () => {
  const [session, listener] = [await caller(), await caller()];
  const heard: (string | undefined)[] = [];
  listener.client.on('notification', ({ payload }) => heard.push(payload?.slice(0, 3)));
  await listener.client.query('listen holdfast_crowd');
  const ttls = [30_000, 1500, 30_000, 30_000];
  const crowd = ttls.map((ttl, tag) => {
    return { ...asked('died waiting', { ttl }), address: 'crowd', tag: `${tag}` };
  });
  const [holder, , next] = crowd;
  const number = numberOf((await session.claim([holder!]))[0]);
  for (const waiter of crowd.slice(1)) await session.claim([waiter]);
  // The first waiter's life ends.
  await new Promise((resolve) => setTimeout(resolve, 1600));
  expect(await session.releaseOne(holder!)).toBe('1');
  expect((await session.claim([next!]))[0]).toMatch(new RegExp(`^h .* released ${number}$`));
  // What comes over the same session comes after them: the first waiter, who is in, who is next.
  await listener.client.query('select 1');
  expect(heard.sort()).toEqual(['0 h', '2 h', '3 w']);
});

test('claims of a batch are refused after releases, which free only their own', async () => {
  const session = await caller();
  const [late, other] = [asked('late copy'), asked('beside it')];
  expect(await session.release([late])).toEqual(['0']);
  const [refused, held] = await session.claim([late, other]);
  expect(refused).toBe('g unknown ');
  const strangers = [asked('beside it'), asked('late copy')];
  expect(await session.release(strangers)).toEqual(['0', '0']);
  expect(numberOf((await session.claim([other]))[0])).toBe(numberOf(held));
});

test('sixteen sessions with batches that overlap never meet in a deadlock', CALM, async () => {
  await expectCalmStorm(caller);
});

test('what is idle goes after ten minutes, and its numbers are not given again', async () => {
  const session = await caller();
  const [claim, kept] = [asked('swept'), asked('kept')];
  const before = (await session.claim([claim, kept])).map(numberOf);
  await session.release([claim]);
  await session.sweep();
  const rows = () => server.query(`select number from holdfast.resource where name = 'swept'`);
  expect(await rows()).toHaveLength(1);
  const clock = await server.query<{ prosrc: string }>(
    `select prosrc from pg_proc where oid = 'holdfast.micros'::regproc`,
  );
  const setClock = (body: string) =>
    server.query(
      `create or replace function holdfast.micros() returns bigint language sql as $$${body}$$`,
    );
  const source = clock[0]!.prosrc;
  await setClock(`${source} + 601000000`);
  await session.sweep();
  expect(await rows()).toEqual([]);
  // An hour back.
  await setClock(`${source} - 3600000000`);
  const again = await caller();
  await again.release([kept]);
  const numbers = (await again.claim([asked('swept'), asked('kept')])).map(numberOf);
  numbers.forEach((number, i) => expect(number).toBeGreaterThan(before[i]!));
  await setClock(source);
});

test('a sweep takes all there is, a portion at a time, but what others have', async () => {
  const [session, other, third] = [await caller(), await caller(), await caller()];
  await server.query(`insert into holdfast.resource (name, kind, number)
    select 'old ' || n, 'm', n from generate_series(1, 1200) n`);
  await server.query('update holdfast.sweeping set name = null, due = 0');
  await other.client.query('begin');
  await other.client.query(`select from holdfast.resource where name = 'old 7' for update`);
  const portion = async (): Promise<number> => (await session.sweep()).rowCount ?? 0;
  expect(await portion()).toBe(1);
  // One at a time.
  await third.client.query('begin');
  await third.client.query('select from holdfast.sweeping for update');
  expect(await portion()).toBe(0);
  await third.client.query('rollback');
  while ((await portion()) > 0);
  const left = `select name from holdfast.resource where name like 'old %'`;
  expect(await server.query(left)).toEqual([{ name: 'old 7' }]);
  await other.client.query('rollback');
  // The next round is a minute later.
  expect(await portion()).toBe(0);
  expect(await server.query(left)).toEqual([{ name: 'old 7' }]);
});

test('nobody is told where nobody listens', async () => {
  const [listener, session] = [await caller(), await caller()];
  const heard: string[] = [];
  listener.client.on('notification', ({ channel }) => heard.push(channel));
  await listener.client.query('listen holdfast_me');
  const alone = { ...asked('told'), address: 'me', tag: '1' };
  await session.claim([alone]);
  await session.renew([alone]);
  await session.release([alone]);
  const [holder, waiter] = [1, 2].map((tag) => ({
    ...asked('told'),
    address: 'me',
    tag: `${tag}`,
  }));
  await session.claim([holder!]);
  expect(heard).toEqual([]);
  await session.claim([waiter!]);
  await session.release([holder!]);
  // What comes over the same session comes after them.
  await listener.client.query('select 1');
  expect(heard).toEqual(['holdfast_me', 'holdfast_me']);
});

const record = { text: 'x', ms: 60_000 };

test('records that are over go with those that come, and with a sweep', async () => {
  const session = await caller();
  const past = (n: number): Promise<unknown> =>
    server.query(
      `insert into holdfast.kept select 'past ' || i, '', 1 from generate_series(1, ${n}) i`,
    );
  const left = async (): Promise<number> =>
    (await server.query(`select from holdfast.kept where name like 'past%'`)).length;
  await past(5);
  const claim = asked('keeps');
  expect(await session.keep(claim, record)).toBe('0');
  expect(await left()).toBe(5);
  await session.claim([claim]);
  expect(await session.keep(claim, record)).toBe('1');
  expect(await left()).toBe(3);
  // Whoever has one of them locked is not waited for.
  const other = await caller();
  await other.client.query('begin');
  await other.client.query(`select from holdfast.kept where name like 'past%' limit 1 for update`);
  await session.sweep();
  expect(await left()).toBe(1);
  await other.client.query('rollback');
  expect(await session.keep(claim, { text: '', ms: 0 })).toBe('1');
  expect(await server.query('select from holdfast.kept')).toEqual([]);
});

test('a record is on disk, whatever other commits are', async () => {
  const session = await caller();
  const claim = asked('on disk');
  const fast = { fast: true, trust: true };
  await session.claim([claim], fast);
  await session.client.query('begin');
  expect(await session.keep(claim, { ...record, ...fast })).toBe('1');
  const { rows } = await session.client.query('show synchronous_commit');
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  await session.client.query('commit');
});
