/** Versions of the library that know different layouts of the file. */
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { openConnection } from '../../../src/clients/sqlite/connection.ts';
import { thisMachine } from '../../../src/clients/sqlite/machine.ts';
import { joinFile } from '../../../src/stores/sqlite/layout.ts';
import { LAYOUTS } from '../../../src/stores/sqlite/schema.ts';
import { until } from '../../support/until.ts';
import { claimOf, connect, filesOf, hold, one, open, scene, test } from './bed.ts';
import { BREAKING_LAYOUTS, NEXT_LAYOUTS } from './next-layout.ts';

test('a newer version brings the file up to its layout, and both go on', async ({ file }) => {
  const old = open(file);
  const [first, second] = [claimOf('job'), claimOf('job')];
  const token = await hold(old, first);
  const gone = claimOf('gone', { unanswered: true });
  await old.release([gone]);

  const next = open(file, { layouts: NEXT_LAYOUTS });
  expect(await one(next.claim([second]))).toMatchObject({ state: 'waiting' });
  expect(next.lineage).toBe(old.lineage);
  const database = await connect(file);
  database.exec(`UPDATE holdfast_claim SET priority = 7, remark = 'by the next version'`);
  database.exec(`UPDATE holdfast_tombstone SET remark = 'by the next version'`);

  expect(await one(old.renew([first]))).toMatchObject({ state: 'held', token, waiters: 1 });
  await old.release([gone]);
  expect(await old.release([first])).toEqual([true]);
  expect(await one(next.renew([second]))).toMatchObject({
    state: 'held',
    takeover: { reason: 'released', token },
  });
  await hold(old, claimOf('by the old version'));
  // What the old version does not know it leaves as it is, and does not write.
  expect(database.prepare('SELECT priority, remark FROM holdfast_claim').all()).toMatchObject([
    { priority: 0, remark: null },
    { priority: 7, remark: 'by the next version' },
  ]);
  expect(database.prepare('SELECT remark FROM holdfast_tombstone').all()).toMatchObject([
    { remark: 'by the next version' },
  ]);
});

test('a file that takes a newer version is refused', async ({ file }) => {
  await hold(open(file), claimOf('job'));
  const database = await connect(file);
  database.exec('UPDATE holdfast_meta SET layout = 99, oldest = 98');
  const advice = /layout 99, .* knows layout 98; .* knows 1\. Update holdfast here/;
  await expect(open(file).claim([claimOf('job')])).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: false, outcome: 'failed' },
    message: expect.stringMatching(advice),
  });
});

test('who uses a file that becomes too new is told so by every verb', async ({ file }) => {
  const old = open(file);
  const claim = claimOf('job');
  const token = await hold(old, claim);
  const client = await openConnection(file, 5_000);
  const newcomer = { machine: thisMachine, layouts: BREAKING_LAYOUTS };
  expect(client.write(() => joinFile(client, newcomer))).toBe(old.lineage);
  client.close();

  const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
    claim: () => old.claim([claimOf('job')]),
    'claim many': () => old.claim([claimOf('a'), claimOf('b')]),
    renew: () => old.renew([claim]),
    release: () => old.release([claim]),
    'release later': () => old.release([claim], { ms: 1_000 }),
    inspect: () => old.inspect('job'),
    keep: () => old.keep(claim, { text: 'done', ms: 1_000 }),
    downgrade: () => old.downgrade(claim),
    evict: () => old.evict('job', token, { reason: 'test', now: true }),
    list: () => old.list('')[Symbol.asyncIterator]().next(),
  };
  for (const [verb, call] of Object.entries(verbs)) {
    const error = (await call().catch((error: unknown) => error)) as Error;
    expect(error, verb).toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed' });
    expect(error.message, verb).toMatch(/has layout 2, .* knows 1\. Update holdfast here/);
  }
  const claims = (await connect(file)).prepare('SELECT id FROM holdfast_claim_2').all();
  expect(claims).toMatchObject([{ id: claim.id }]);
});

test('an upgrade that fails leaves the file as it was', async ({ file }) => {
  const old = open(file);
  await hold(old, claimOf('job'));
  const layouts = [...NEXT_LAYOUTS, { oldest: 1, sql: 'CREATE TABLE holdfast_claim (a)' }];
  await expect(open(file, { layouts }).claim([claimOf('job')])).rejects.toMatchObject({
    code: 'STORE',
    outcome: 'failed',
  });
  const database = await connect(file);
  expect(database.prepare('SELECT layout FROM holdfast_meta').all()).toMatchObject([
    { layout: LAYOUTS.length },
  ]);
  expect(database.prepare(`SELECT 1 FROM pragma_table_info('holdfast_remark')`).all()).toEqual([]);
  await hold(old, claimOf('other'));
});

test('a wake-up of a later version may say more', async () => {
  const { file, waiter, hints } = await scene();
  const news = [waiter.id, Number.MAX_SAFE_INTEGER, 'w 1000 1 - queue 500', { later: true }, []];
  for (const each of filesOf(file)) appendFileSync(each, `\n${JSON.stringify(news)}\n`);
  await until(() => hints.length > 0);
  expect(hints).toMatchObject([{ state: 'waiting', ahead: 1 }]);
});
