/** What the statements promise, whatever else goes on in the database. */
import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { arrayOf } from '../../../src/stores/postgres/fragments.ts';
import { statementsOf } from '../../../src/stores/postgres/statements.ts';
import { refusal } from '../../methods/faults/sql-calls.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { rowCases } from '../sql/row-cases.ts';
import { sessionOn, sharedServer } from './bed.ts';
import { asked, type Caller, callerOf, numberOf, sweep } from './caller.ts';

const { bed, server } = await sharedServer();
// Nothing is granted before a program has recorded that no data was lost.
await caller().claim([asked('the first')]);

function caller(): Caller {
  return bed.use(callerOf(server));
}

const session = (): Promise<pg.Client> => sessionOn(bed, server);

/** A claim on each of these locks, as the statement takes them. */
function take(ids: Readonly<Record<string, string>>, tag = '- -'): string[] {
  const rows = Object.entries(ids).map(([name, id]) => {
    return [name, id, 'm', '1', '1', '30000', '{}', tag, 'true', '1'];
  });
  const lists = rows[0]?.map((_, n) => arrayOf(rows.map((row) => row[n] ?? ''))) ?? [];
  return [...lists, 'f', '30000000', 'false', '100'];
}

const texts = statementsOf('holdfast');

function ask(client: pg.Client, name: string, values: string[]): Promise<pg.QueryResult> {
  return client.query(texts[name] ?? '', values);
}

describe.each(['REPEATABLE READ', 'SERIALIZABLE'])('a session at %s', (isolation) => {
  test('is refused what was claimed after it looked', async () => {
    const other = caller();
    const [stale, name] = [await session(), `${isolation} again`];
    const holder = asked(name);
    await other.release(await other.claim([holder]).then(() => [holder]));
    await stale.query(`begin isolation level ${isolation}`);
    await stale.query('select from holdfast.store');
    numberOf((await other.claim([asked(name)]))[0]);
    expect(await refusal(ask(stale, 'take', take({ [name]: 'a'.repeat(32) })))).toBe('40001');
    await stale.query('rollback');
  });
});

test('a grant is nobody else’s before it is committed, and nobody’s if it is not', async () => {
  const [one, two] = [await session(), caller()];
  await one.query('begin');
  await ask(one, 'take', take({ uncommitted: 'b'.repeat(32) }));
  // It waits for the row for a sixth of its ttl.
  const other = asked('uncommitted', { queue: false, ttlMs: paced(600) });
  await expect(two.claim([other])).rejects.toMatchObject({ code: 'STORE', outcome: 'failed' });
  await one.query('rollback');
  numberOf((await two.claim([other]))[0]);
});

test('a batch waits for no row while it has others', async () => {
  const [stuck, one] = [await session(), await session()];
  const names = ['batch x', 'batch y', 'batch z', 'batch new'];
  const ids = names.map((name, n) => [name, `${n}`.repeat(32)] as const);
  for (const [name, id] of ids.slice(0, 3)) {
    await ask(one, 'take', take({ [name]: id }));
    await ask(one, 'leave', [name, id, '']);
  }
  await stuck.query('begin');
  await stuck.query(`select from holdfast.lock where name = 'batch y' for update`);
  const { rows } = await ask(one, 'take_all', take(Object.fromEntries(ids)));
  const taken = rows.map((row) => Object.values(row)[0] as string);
  const expected = names.filter((name) => name !== 'batch y');
  expect(taken.map((line) => line.slice(line.indexOf('batch'))).sort()).toEqual(expected.sort());
  await stuck.query('rollback');
});

test('the time that a statement waits for its row counts', async () => {
  const [stuck, one, two] = [await session(), await session(), caller()];
  await two.claim([asked('late', { ttlMs: paced(600) })]);
  await stuck.query('begin');
  await stuck.query(`select from holdfast.lock where name = 'late' for update`);
  const beat = ask(one, 'beat', [arrayOf(['late']), arrayOf(['c'.repeat(32)]), arrayOf([1])]);
  const waiting = two.claim([asked('late')]);
  // The hold ends meanwhile.
  await new Promise((resolve) => setTimeout(resolve, paced(700)));
  await stuck.query('rollback');
  numberOf((await waiting)[0]);
  await beat;
});

test('a write on a row that has moved changes nothing, and tells nobody', async () => {
  const [one, other] = [await session(), caller()];
  const heard: unknown[] = [];
  one.on('notification', (said) => heard.push(said));
  await one.query('listen holdfast_me');
  const claim = asked('moved');
  await other.claim([claim]);
  const { rows } = await ask(one, 'read', [arrayOf(['moved']), '30000000', 'false']);
  const [, , , name, rev, last] = Object.values(rows[0])[0] as unknown[];
  await other.renew([claim]);
  const write = { name, rev, last, until: 0, waiters: 0, crowd: '' };
  const news = { name, address: 'me', message: '1 ?' };
  const values = [JSON.stringify([write]), JSON.stringify([news])];
  expect((await ask(one, 'write', values)).rows).toEqual([]);
  numberOf((await other.renew([claim]))[0]);
  await one.query('select 1');
  expect(heard).toEqual([]);
});

rowCases({
  tables: { lock: 'holdfast.lock', store: 'holdfast.store', kept: 'holdfast.kept' },
  caller,
  async know(columns) {
    await server.query(`update holdfast.store set ${columns}`);
    const written = 'written = pg_current_xact_id()::xid';
    await server.query(`update holdfast.witness set ${columns}, ${written}`);
  },
  query: (sql) => server.query(sql),
  async hold(statement) {
    const client = await session();
    await client.query('begin');
    await client.query(statement);
    return async () => void (await client.query('rollback'));
  },
  sweep: (idleMs) => sweep(server, idleMs),
});

test('nobody is told where nobody waits', async () => {
  const [listener, one] = [await session(), await session()];
  const heard: string[] = [];
  listener.on('notification', ({ channel }) => heard.push(channel));
  await listener.query('listen holdfast_me');
  const tagged = (id: string) => take({ told: id.repeat(32) }, `me ${id}`);
  await ask(one, 'take', tagged('1'));
  await ask(one, 'leave', ['told', '1'.repeat(32), '']);
  await ask(one, 'take', tagged('2'));
  expect(heard).toEqual([]);
  await ask(one, 'take', tagged('3'));
  await ask(one, 'leave', ['told', '2'.repeat(32), '']);
  // What comes over the same session comes after them.
  await listener.query('select 1');
  expect(heard).toEqual(['holdfast_me', 'holdfast_me']);
});

/** The query of the page that finds whatever keeps a snapshot. */
const KEEPERS =
  /^### A snapshot that is kept$.*?```sql\n(.*?)```/ms.exec(
    readFileSync(new URL('../../../docs/stores/postgres.md', import.meta.url), 'utf8'),
  )?.[1] ?? '';

test('what keeps a snapshot is found, and a lock is quick again once it is gone', async () => {
  const [keeper, one] = [await session(), await session()];
  const pair = async (n: number): Promise<void> => {
    await ask(one, 'take', take({ hot: `${n}`.padStart(32, '0') }));
    await ask(one, 'leave', ['hot', `${n}`.padStart(32, '0'), '']);
  };
  /** How many pages a search for the row reads. */
  const pages = async (): Promise<number> => {
    const search = `explain (analyze, buffers, format json) select from holdfast.lock
      where name = 'hot'`;
    const { rows } = await one.query(search);
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  await one.query('set enable_seqscan = off; set enable_bitmapscan = off');
  await one.query('set synchronous_commit = off');
  await pair(0);
  const before = await pages();
  await keeper.query('begin isolation level repeatable read');
  const { rows } = await keeper.query('select pg_backend_pid()::text as pid');
  for (let n = 1; n <= 300; n++) await pair(n);
  expect(await pages()).toBeGreaterThan(2 * before);
  const [first] = await server.query<{ what: string; who: string }>(KEEPERS);
  expect(first).toMatchObject({ what: 'session', who: rows[0].pid });
  await keeper.query('rollback');
  await until('were the versions cleared', async () => {
    await pair(0);
    return (await pages()) <= 2 * before;
  });
});

test('a record is on disk, whatever other commits are', async () => {
  const one = await session();
  const id = 'd'.repeat(32);
  await ask(one, 'take', take({ 'on disk': id }));
  await one.query('begin');
  await one.query('set local synchronous_commit = off');
  expect((await ask(one, 'keep', ['on disk', id, '0', 'x', '60000'])).rows).toHaveLength(1);
  const { rows } = await one.query('show synchronous_commit');
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  await one.query('commit');
});
