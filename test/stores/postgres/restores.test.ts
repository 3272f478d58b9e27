/** The tables are somewhere else, or as they were once: whoever held a lock since may not know. */
import { expect, test } from 'vitest';
import type { ClaimStatus } from '../../../src/contract/store.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { type Login, type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { Bed, inBed, onOwn, type StoreOptions } from './bed.ts';
import { asked, callerOf } from './caller.ts';

function claim(
  bed: Bed,
  server: PostgresServer,
  { database = 'postgres', user = 'postgres', ...options }: StoreOptions & Login = {},
): Promise<ClaimStatus | undefined> {
  return bed.fresh({ url: server.urlOf({ database, user }) }, options);
}

const HELD = { state: 'held' };
const WAITS = { state: 'waiting', why: 'data-loss' };

/** One that has been used, and so may be missed. */
async function used(bed: Bed): Promise<PostgresServer> {
  const server = await bed.server();
  expect(await claim(bed, server)).toMatchObject(HELD);
  return server;
}

const EMPTIED = ['store', 'witness', 'lock', 'kept']
  .map((table) => `TRUNCATE holdfast.${table};`)
  .join('');

inBed('a dump makes all wait in another server, however like the first', async (bed) => {
  const server = await used(bed);
  // It has the same identity, and gives its tables the same numbers.
  const other = bed.serve(await startPostgres());
  await other.query(await server.dump());
  expect(await claim(bed, other)).toMatchObject(WAITS);
  expect(await claim(bed, server)).toMatchObject(HELD);
});

inBed('a dump makes all wait in another database', async (bed) => {
  const server = await used(bed);
  const dump = await server.dump();
  await server.query('CREATE DATABASE other');
  await server.query(dump, [], { database: 'other' });
  expect(await claim(bed, server, { database: 'other' })).toMatchObject(WAITS);
  expect(await claim(bed, server)).toMatchObject(HELD);
});

onOwn('so does one that was taken before the first lock', async (bed, server) => {
  const dump = await server.dump();
  await server.query('CREATE DATABASE other');
  await server.query(dump, [], { database: 'other' });
  expect(await claim(bed, server, { database: 'other' })).toMatchObject(WAITS);
});

// Connections stay open meanwhile, and go on with what they find.
test.concurrent.each([
  ['a dump', [], 'DROP SCHEMA holdfast CASCADE;'],
  ['one without unlogged data', ['--no-unlogged-table-data'], 'DROP SCHEMA holdfast CASCADE;'],
  ['one of the data alone', ['--data-only'], EMPTIED],
])('%s makes all wait in the database that it is of', async (_, options, before) => {
  await using bed = new Bed();
  const server = await used(bed);
  const dump = await server.dump(options);
  const caller = callerOf(server);
  const [line] = await caller.claim([asked('lost')]);
  expect(line).toMatch(/^h /);
  await server.query(before);
  await server.query(dump);
  expect(await caller.claim([asked('lost')])).toEqual([expect.stringMatching(/ data-loss \d+$/)]);
  await caller.close();
});

inBed('a database that is copied as it is makes all wait in the copy', async (bed) => {
  const server = await used(bed);
  await server.query('CREATE DATABASE copy TEMPLATE postgres', [], { database: 'template1' });
  const trusting = { database: 'copy', afterDataLoss: 'trust' } as const;
  expect(await claim(bed, server, trusting)).toMatchObject(HELD);
  expect(await claim(bed, server, { database: 'copy' })).toMatchObject(WAITS);
  expect(await claim(bed, server)).toMatchObject(HELD);
});

test.concurrent.each(['as it is', 'as an archive'] as const)(
  'a base backup makes all wait when it is started %s',
  async (how) => {
    await using bed = new Bed();
    const server = await used(bed);
    expect(await claim(bed, bed.serve(await server.restored(how)))).toMatchObject(WAITS);
  },
);

inBed('what only looks like it makes nobody wait', async (bed) => {
  const server = await used(bed);
  await server.dump();
  for (const table of ['witness', 'store']) {
    await server.query(`VACUUM (FULL, FREEZE) holdfast.${table}`);
  }
  await server.query('VACUUM FREEZE');
  await server.query('REINDEX SCHEMA holdfast');
  expect(await claim(bed, server)).toMatchObject(HELD);
  await server.restart();
  expect(await claim(bed, server)).toMatchObject(HELD);
});

test.each(['pg_current_wal_lsn()', 'pg_control_system()'])(
  'a server that hides %s: a crash may be anything, and an orderly stop is none',
  async (what) => {
    await using bed = new Bed();
    const server = await bed.server();
    const heard = bed.use(hearWarnings());
    await server.query('CREATE ROLE maker LOGIN');
    await server.query('CREATE DATABASE made OWNER maker');
    const login = { user: 'maker', database: 'made' };
    const superuser = { database: 'made' };
    await server.query(`REVOKE EXECUTE ON FUNCTION ${what} FROM PUBLIC`, [], superuser);
    await bed.migrate({ url: server.urlOf(login) });
    expect(await claim(bed, server, login)).toMatchObject(HELD);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard.codes).toEqual(['HOLDFAST_HIDDEN_HISTORY']);
    await server.stop();
    await server.start();
    expect(await claim(bed, server, login)).toMatchObject(HELD);
    await server.restart();
    expect(await claim(bed, server, login)).toMatchObject(WAITS);
  },
);
