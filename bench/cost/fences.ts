/**
 * What a fence adds to a write, each beside the bare one. In a database it is one more statement in
 * each transaction, and on a server a round trip with it; in Redis a check inside of a script that
 * does the same, and what a hold pays once, to enter.
 */
import { redisFence, sqlFence } from 'holdfast/fence';
import { Redis } from 'ioredis';
import pg from 'pg';
import { loaded } from '../floors/redis.ts';
import { openBare } from '../floors/sqlite.ts';
import { compare, timed } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { schemeOf } from '../stores/index.ts';

const ROUNDS = 7;
const SCRIPT = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
const lease = { resource: 'stock:one', lineage: 'bench', token: 1n };

const FENCES: Readonly<Record<string, (url: string) => Promise<void>>> = {
  sqlite,
  redis,
  postgres,
};

export async function measure([{ url }]: readonly [Place]): Promise<void> {
  await FENCES[schemeOf(url)]?.(url);
}

/** The floor first; the ratio is of times. */
function compared(writes: number, deeds: Readonly<Record<string, () => unknown>>): Promise<void> {
  const candidates = Object.entries(deeds).map(([name, once]) => {
    return { name, round: () => timed(writes, once) };
  });
  return compare('writes/s', candidates, ROUNDS, ({ timeRatio }) => ({ ratio: timeRatio }));
}

async function sqlite(url: string): Promise<void> {
  const db = openBare(url);
  db.exec('CREATE TABLE stock (sku TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID');
  db.prepare('INSERT INTO stock VALUES (?, 0)').run('one');
  const update = db.prepare('UPDATE stock SET n = n + 1 WHERE sku = ?');
  const fence = sqlFence({ dialect: 'sqlite' });
  const inTransaction = (before: () => unknown): void => {
    db.exec('BEGIN IMMEDIATE');
    before();
    update.run('one');
    db.exec('COMMIT');
  };
  await compared(10_000, {
    'floor: BEGIN, UPDATE, COMMIT': () => inTransaction(() => {}),
    'the same with fence.enter': () =>
      inTransaction(() => fence.enter(db as Parameters<typeof fence.enter>[0], lease)),
  });
  db.close();
}

async function postgres(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const fence = sqlFence({ dialect: 'postgres' });
  await client.query(fence.schema);
  await client.query('CREATE TABLE IF NOT EXISTS fenced (sku text PRIMARY KEY, n bigint)');
  await client.query("INSERT INTO fenced VALUES ('one', 0) ON CONFLICT DO NOTHING");
  const inTransaction = async (before?: () => Promise<unknown>): Promise<void> => {
    await client.query('BEGIN');
    await before?.();
    await client.query('UPDATE fenced SET n = n + 1 WHERE sku = $1', ['one']);
    await client.query('COMMIT');
  };
  await compared(300, {
    'floor: BEGIN, UPDATE, COMMIT': () => inTransaction(),
    'the same with a bare SELECT in it': () => inTransaction(() => client.query('SELECT 1')),
    'the same with fence.enter': () => inTransaction(() => fence.enter(client, lease)),
  });
  await client.end();
}

async function redis(url: string): Promise<void> {
  const client = new Redis(url);
  const fence = redisFence();
  const entry = await fence.enter(client, lease);
  const sha = await loaded(client, SCRIPT);
  const [key, writes] = ['stock:one', 3_000];
  await compared(writes, {
    'floor: SET': () => client.set(key, '1'),
    'entry.write': () => entry.write([['SET', key, 1]]),
  });
  await compared(writes, {
    'floor: EVALSHA': () => client.evalsha(sha, 1, key, '1'),
    'entry.eval': () => entry.eval(SCRIPT, { keys: [key], args: [1] }),
  });
  await compared(writes, {
    'floor: SET, again': () => client.set(key, '1'),
    'fence.enter': () => fence.enter(client, lease),
  });
  await fence.close();
  client.disconnect();
}
