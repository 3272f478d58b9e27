/** What the connections of a store have of their client, and what they have not. */
import { connect, Socket } from 'node:net';
import { createLocks } from 'holdfast';
import { type PostgresClient, postgresStore } from 'holdfast/postgres';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { claimOf, failureOf, sessionOn, sessionsOf, sharedServer, sleep } from './bed.ts';

const hba = ['host all secretive 127.0.0.1/32 scram-sha-256'];
const { bed, server } = await sharedServer({ hba });
await server.query(`CREATE ROLE secretive LOGIN SUPERUSER PASSWORD 'right'`);

async function works(client: PostgresClient): Promise<void> {
  const locks = createLocks(postgresStore(client));
  await locks.mutex('a').run(() => {});
  await locks.close();
}

function secretive() {
  return { host: server.host, port: server.port, user: 'secretive', database: 'postgres' };
}

type Login = ReturnType<typeof secretive> & { password: string | (() => Promise<string>) };

describe('a password', () => {
  test.each([
    ['a Pool', (login: Login) => new Pool(login)],
    ['a Client', (login: Login) => new Client(login)],
    ['postgres.js', (login: Login) => postgres(login)],
  ])('of %s, as a text and as a function', async (_, clientOf) => {
    for (const said of [(word: string) => word, (word: string) => async () => word]) {
      const make = (word: string) => clientOf({ ...secretive(), password: said(word) });
      await works(make('right'));
      const failure = await failureOf(bed.use(postgresStore(make('wrong'))).claim([claimOf('a')]));
      expect(failure).toMatchObject({ code: 'STORE', retryable: false });
      expect((failure as Error).message).not.toContain('wrong');
    }
  });

  test('that changes is asked for anew', async () => {
    let asked = 0;
    const password = (): string => {
      asked++;
      return 'right';
    };
    const store = bed.use(postgresStore(new Pool({ ...secretive(), password })));
    await store.inspect('a');
    await server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'secretive'",
    );
    await failureOf(store.inspect('a'));
    await store.inspect('a');
    expect(asked).toBe(2);
  });
});

test('a socket file', async () => {
  const { folder, port } = server;
  await works(new Pool({ host: folder, port, user: 'postgres', database: 'postgres' }));
  await works(postgres({ host: folder, port, user: 'postgres', database: 'postgres' }));
});

test('a stream of the program’s own', async () => {
  let made = 0;
  const stream = (): Socket => {
    made++;
    return new Socket();
  };
  await works(new Pool({ connectionString: server.url, stream }));
  expect(made).toBe(2);
  const options = {
    socket: async () => {
      made++;
      return connect(server.port, server.host);
    },
  };
  // Its types do not know of it.
  await works(postgres(server.url, options as object));
  expect(made).toBe(4);
});

test.each([
  [
    'pg',
    () =>
      new Pool({
        connectionString: `${server.url}?application_name=mine&statement_timeout=100`,
        ...{ query_timeout: 100, lock_timeout: 100, connectionTimeoutMillis: 1 },
        ...{ keepAlive: false, idle_in_transaction_session_timeout: 100, idleTimeoutMillis: 1 },
      }),
  ],
  [
    'postgres',
    () =>
      postgres(server.url, {
        ...{ idle_timeout: 1, max_lifetime: 1, connect_timeout: 1, max: 3 },
        transform: { ...postgres.camel, undefined: null },
        connection: { application_name: 'mine' },
        onnotice: () => expect.fail('a notice for somebody else'),
        onclose: () => expect.fail('a connection of somebody else'),
      }),
  ],
])('%s: time limits and habits of the program are its own', async (_, make) => {
  const store = bed.use(postgresStore(make()));
  await store.claim([claimOf('blocked')]);
  const before = await sessionsOf(server);
  const other = await sessionOn(bed, server);
  await other.query('BEGIN');
  await other.query('LOCK holdfast.lock');
  const claim = store.claim([claimOf('blocked')]);
  await sleep(500);
  await other.end();
  expect((await claim)[0]?.state).toBe('waiting');
  // As long as the longest of its limits.
  await sleep(1200);
  expect(await sessionsOf(server)).toEqual(before);
  const mine = "SELECT FROM pg_stat_activity WHERE application_name = 'mine'";
  expect(await server.query(mine)).toEqual([]);
});

test('types that a program parses in its own way are texts all the same', async () => {
  const types = { getTypeParser: () => () => 'parsed' };
  await works(new Pool({ connectionString: server.url, types: types as never }));
  const parse = (): string => 'parsed';
  const text = { to: 25, from: [25, 20, 16, 23], serialize: () => 'serialized', parse };
  await works(postgres(server.url, { types: { text } }));
});
