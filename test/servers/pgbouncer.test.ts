import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Pgbouncer, type PgbouncerOptions, startPgbouncer } from './pgbouncer.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server?.close());

async function pooled(options: PgbouncerOptions): Promise<[Pgbouncer, pg.Client, pg.Client]> {
  const pooler = await startPgbouncer(server, options);
  onTestFinished(() => pooler.close());
  const clients = [new pg.Client(pooler.url), new pg.Client(pooler.url)] as const;
  for (const client of clients) {
    client.on('error', () => {});
    await client.connect();
    onTestFinished(() => client.end());
  }
  return [pooler, ...clients];
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]!.pid;
}

it('in transaction mode clients share the connections of the server', async () => {
  const [, one, other] = await pooled({ mode: 'transaction', poolSize: 1 });
  expect(await pidOf(other)).toBe(await pidOf(one));
  await one.query('begin');
  let answered = false;
  const answer = pidOf(other).finally(() => {
    answered = true;
  });
  for (let n = 0; n < 20; n += 1) await one.query('select 1');
  expect(answered).toBe(false);
  const pid = await pidOf(one);
  await one.query('commit');
  expect(await answer).toBe(pid);
});

it('in session mode each client has its own', async () => {
  const [pooler, one, other] = await pooled({ mode: 'session' });
  const pids = [await pidOf(one), await pidOf(other)];
  expect(new Set(pids).size).toBe(2);
  expect([await pidOf(one), await pidOf(other)]).toEqual(pids);
  const pools = await pooler.query('show pools');
  expect(pools).toContainEqual(
    expect.objectContaining({ database: 'postgres', pool_mode: 'session', sv_active: 2 }),
  );
});
