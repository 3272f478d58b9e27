/** The stores that PostgreSQL URLs name: what is read of a URL, and that locks work through it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect, openStore } from 'holdfast/connect';
import { migratePostgres } from 'holdfast/postgres';
import { describe, expect, test } from 'vitest';
import { migrate } from '../../../src/stores/postgres/open-url.ts';
import { Bed, clientOf, sharedServer } from './bed.ts';

const CANARY = 'canary-5up3r-s3cr3t';

const hba = ['host all secretive 127.0.0.1/32 scram-sha-256'];
const { bed, server } = await sharedServer({ hba });
await server.query(`CREATE ROLE secretive LOGIN SUPERUSER PASSWORD 'p@ss:w/rd%'`);

test('a user, a password and a database, and options of the store and of the client', async () => {
  await server.query('CREATE DATABASE other');
  await migratePostgres(clientOf('pg', server.urlOf({ database: 'other' })), { schema: 'Mine' });
  const at = `secretive:p%40ss%3Aw%2Frd%25@${server.host}:${server.port}/other`;
  const query = 'schema=Mine&maxTtl=1m&maxWaiters=0&durability=fast&afterDataLoss=trust';
  for (const scheme of ['postgres', 'postgresql']) {
    const url = `${scheme}://${at}?${query}&sslmode=disable`;
    await using locks = await connect(url, { ttl: '1m' });
    await using others = await connect(url, { ttl: '1m' });
    const lease = await locks.mutex('x').acquire();
    expect(await others.mutex('x').tryAcquire()).toBeNull();
    const full = { code: 'QUEUE_FULL', message: expect.stringMatching(/maxWaiters is 0/) };
    await expect(others.mutex('x').acquire()).rejects.toMatchObject(full);
    await lease.release();
  }
  const store = bed.use(await openStore(`postgres://${at}?schema=Mine`));
  expect(store.lineage).toContain('Mine');
});

test('TLS is asked for as the client has it', async () => {
  const store = bed.use(await openStore(`${server.url}?sslmode=require`));
  await expect(store.inspect('x')).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: false, message: expect.stringMatching(/TLS/) },
  });
});

test.each([
  ...[`postgres:${CANARY}`, `postgres:/u:${CANARY}@host`, `postgres://u:${CANARY}#@host`],
  ...[`postgres://u:%zz${CANARY}@host`, `postgres://u:${CANARY}@ho st`],
  ...[`postgres://u:${CANARY}@host:x/y`, `postgres://u:${CANARY}@host/x?maxWaiters=-1`],
  ...[`postgres://u:${CANARY}@host/x?maxTtl=soon`, `postgres://u:${CANARY}@host/x?schema=1`],
  `postgres://u:${CANARY}@host/x?durability=none`,
  `postgres://u:${CANARY}@host/x?afterDataLoss=never`,
])('%s is refused without its password', async (url) => {
  for (const open of [openStore, connect]) {
    const error = await open(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'USAGE' });
    expect(String((error as Error).stack).replaceAll(url, '')).not.toContain(CANARY);
    expect((error as Error).cause).toBeUndefined();
  }
});

test.each(['schema=public', 'pgbouncer=true&schema=shop', 'schema=shop&connection_limit=5'])(
  'what Prisma means by ?%s is not what Holdfast means',
  async (query) => {
    const url = `${server.url}?${query}`;
    const error = { code: 'USAGE', message: expect.stringMatching(/Prisma.*Leave schema out/) };
    await expect(openStore(url)).rejects.toMatchObject(error);
    await expect(migrate('postgres', url.slice('postgres:'.length))).rejects.toMatchObject(error);
    const [made] = await server.query(`SELECT to_regclass('public.lock') AS lock`);
    expect(made).toEqual({ lock: null });
  },
);

describe('whichever client is installed', () => {
  /** In a process of its own, where these packages are missing. */
  async function run(missing: string, url: string): Promise<string> {
    const program = join(import.meta.dirname, '../redis/without-packages.ts');
    const sources = join(import.meta.dirname, '../../../scripts/sources.mjs');
    const args = ['--import', sources, program, missing, url];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return stdout.trim();
  }

  test.each([['postgres'], ['pg']])('without %s', async (missing) => {
    expect(await run(missing, server.url)).toBe('acquired');
  });

  test('without the one that knows several hosts', async () => {
    expect(await run('postgres', `postgres://u:${CANARY}@host,other/x`)).toBe(
      'UNSUPPORTED: A PostgreSQL URL with several hosts needs a client: run' +
        ' `npm install postgres`.',
    );
  });

  test('without any, the error names both', async () => {
    expect(await run('pg,postgres', `postgres://u:${CANARY}@host`)).toBe(
      'UNSUPPORTED: A PostgreSQL URL needs a client: run `npm install pg` or' +
        ' `npm install postgres`.',
    );
  });
});

test('of several hosts that are named, postgres.js finds the primary', async () => {
  await using own = new Bed();
  const primary = await own.server();
  const standby = own.serve(await primary.standby());
  await standby.inStep();
  const hosts = [standby, primary].map(({ host, port }) => `${host}:${port}`).join(',');
  await using locks = await connect(`postgres://postgres@${hosts}/postgres`);
  await locks.mutex('x').run(() => {});
});
