/** What a client is connected to by mistake: the first error says what to look at. */
import { createLocks, type Store } from 'holdfast';
import { mysqlStore } from 'holdfast/mysql';
import { postgresStore } from 'holdfast/postgres';
import { redisStore } from 'holdfast/redis';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { Lifetime } from '../../methods/faults/lifetime.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { certificates, startTls } from '../../servers/tls.ts';
import { packages } from './packages.ts';

const TRUST = { afterDataLoss: 'trust' } as const;

/** What the first try is told. */
async function told(store: Store): Promise<string> {
  await using locks = createLocks(store);
  const error = await locks
    .mutex('a')
    .tryRun(() => {})
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'STORE', outcome: 'failed' });
  return (error as Error).message;
}

describe.each(packages)('$name', (its) => {
  test('the port of a Sentinel', async () => {
    await using bed = new Lifetime();
    const primary = bed.serve(await RedisServer.start());
    const config = [`sentinel monitor m ${primary.host} ${primary.port} 1`];
    const sentinel = bed.serve(await RedisServer.start({ sentinel: true, config }));
    expect(await told(redisStore(its.server(sentinel), TRUST))).toMatch(
      /is a Sentinel.* redis\+sentinel:.* sentinels, name .* createSentinel/,
    );
  });

  test.each(['EVALSHA', 'SCRIPT'])('a server that has %s renamed', async (command) => {
    await using bed = new Lifetime();
    const config = [`rename-command ${command} ""`];
    const server = bed.serve(await RedisServer.start({ config }));
    expect(await told(redisStore(its.server(server), TRUST))).toMatch(
      /runs no scripts.*rename-command.*docs\/stores\/redis\.md#permissions/,
    );
  });

  test('a server without TLS, by a client with it', async () => {
    await using bed = new Lifetime();
    const { host, port } = bed.serve(await RedisServer.start());
    const place = { host, port };
    const { 'ca.crt': ca = '' } = await certificates();
    // The server takes what the client says for the beginning of a command, and waits for the rest.
    const asked = /speaks TLS; does this server\? Is it a Redis|does not speak TLS at this port/;
    expect(await told(redisStore(its.server(place, { ca }), TRUST))).toMatch(asked);
    expect(await told(redisStore(its.cluster([place], { ca }), TRUST))).toMatch(
      /Do both sides agree on TLS\?|does not speak TLS at this port/,
    );
  });

  test('a server with TLS, by a client without it', async () => {
    await using bed = new Lifetime();
    const { server } = await startTls();
    bed.serve(server);
    expect(await told(redisStore(its.server(server), TRUST))).toMatch(
      /speaks no TLS; does this server want it\?|speaks TLS at this port, and the client does not/,
    );
  });

  test('PostgreSQL', async () => {
    await using bed = new Lifetime();
    const { host, port } = bed.serve(await startPostgres());
    expect(await told(redisStore(its.server({ host, port }), TRUST))).toMatch(
      /Is it a Redis server\?/,
    );
  });
});

test('Redis, by clients of databases', async () => {
  await using bed = new Lifetime();
  const { host, port } = bed.serve(await RedisServer.start());
  const place = { host, port, user: 'a', password: 'b', database: 'c' };
  const postgresql = /Is it a PostgreSQL server\?/;
  expect(await told(postgresStore(new Pool(place)))).toMatch(postgresql);
  expect(await told(postgresStore(postgres(place)))).toMatch(postgresql);
  expect(await told(mysqlStore(createPool(place)))).toMatch(/Is it a MySQL or MariaDB server\?/);
});
