/** A transaction of one UPDATE in PostgreSQL, bare and behind the fence: a round trip more. */
import { sqlFence } from 'holdfast/fence';
import pg from 'pg';
import { timed } from '../result.ts';
import { pairs } from './row.ts';

const WRITES = 300;

const client = new pg.Client(process.env.BENCH_DATABASE_URL);
await client.connect();
const fence = sqlFence({ dialect: 'postgres' });
await client.query(fence.schema);
await client.query('CREATE TABLE IF NOT EXISTS fenced (sku text PRIMARY KEY, n bigint)');
await client.query("INSERT INTO fenced VALUES ('one', 0) ON CONFLICT DO NOTHING");
const lease = { resource: 'stock:one', lineage: 'bench', token: 1n };
const UPDATE = 'UPDATE fenced SET n = n + 1 WHERE sku = $1';

async function inTransaction(before: () => Promise<unknown>): Promise<void> {
  await client.query('BEGIN');
  await before();
  await client.query(UPDATE, ['one']);
  await client.query('COMMIT');
}

const nothing = async (): Promise<void> => {};
await pairs('fences/postgres', [
  {
    name: 'floor: BEGIN, UPDATE, COMMIT',
    round: () => timed(WRITES, () => inTransaction(nothing)),
  },
  {
    name: 'the same with a bare SELECT in it',
    round: () => timed(WRITES, () => inTransaction(() => client.query('SELECT 1'))),
  },
  {
    name: 'the same with fence.enter',
    round: () => timed(WRITES, () => inTransaction(() => fence.enter(client, lease))),
  },
]);
await client.end();
