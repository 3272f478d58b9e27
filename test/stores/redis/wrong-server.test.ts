/** What a client is connected to by mistake: the first error says what to look at. */
import { createLocks, type Store } from 'holdfast';
import { mysqlStore } from 'holdfast/mysql';
import { postgresStore } from 'holdfast/postgres';
import { type RedisClient, redisStore } from 'holdfast/redis';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { inTurn } from '../../methods/faults/bed.ts';
import { Lifetime } from '../../methods/faults/lifetime.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { certificates, startTls } from '../../servers/tls.ts';
import { packages } from './packages.ts';

const inBed = inTurn(() => new Lifetime());

/** What the first try is told. */
async function toldBy(store: Store): Promise<string> {
  await using locks = createLocks(store);
  const error = await locks
    .mutex('a')
    .tryRun(() => {})
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'STORE', outcome: 'failed' });
  return (error as Error).message;
}

describe.each(packages)('$name', (its) => {
  const told = (client: RedisClient): Promise<string> =>
    toldBy(redisStore(client, { afterDataLoss: 'trust' }));

  inBed('the port of a Sentinel', async (bed) => {
    const primary = bed.serve(await RedisServer.start());
    const config = [`sentinel monitor m ${primary.host} ${primary.port} 1`];
    const sentinel = bed.serve(await RedisServer.start({ sentinel: true, config }));
    expect(await told(its.server(sentinel))).toMatch(
      /is a Sentinel.* redis\+sentinel:.* sentinels, name .* createSentinel/,
    );
  });

  test.each(['EVALSHA', 'SCRIPT'])('a server that has %s renamed', async (command) => {
    await using bed = new Lifetime();
    const config = [`rename-command ${command} ""`];
    const server = bed.serve(await RedisServer.start({ config }));
    expect(await told(its.server(server))).toMatch(
      /runs no scripts.*rename-command.*docs\/stores\/redis\.md#permissions/,
    );
  });

  inBed('a server without TLS, by a client with it', async (bed) => {
    const { host, port } = bed.serve(await RedisServer.start());
    const place = { host, port };
    const { 'ca.crt': ca = '' } = await certificates();
    // The server takes what the client says for the beginning of a command, and waits for the rest.
    const asked = /speaks TLS; does this server\? Is it a Redis|does not speak TLS at this port/;
    expect(await told(its.server(place, { ca }))).toMatch(asked);
    expect(await told(its.cluster([place], { ca }))).toMatch(
      /Do both sides agree on TLS\?|does not speak TLS at this port/,
    );
  });

  inBed('a server with TLS, by a client without it', async (bed) => {
    const { server } = await startTls();
    bed.serve(server);
    expect(await told(its.server(server))).toMatch(
      /speaks no TLS; does this server want it\?|speaks TLS at this port, and the client does not/,
    );
  });

  inBed('PostgreSQL', async (bed) => {
    const { host, port } = bed.serve(await startPostgres());
    expect(await told(its.server({ host, port }))).toMatch(/Is it a Redis server\?/);
  });
});

inBed('Redis, by clients of databases', async (bed) => {
  const { host, port } = bed.serve(await RedisServer.start());
  const place = { host, port, user: 'a', password: 'b', database: 'c' };
  const postgresql = /Is it a PostgreSQL server\?/;
  expect(await toldBy(postgresStore(new Pool(place)))).toMatch(postgresql);
  expect(await toldBy(postgresStore(postgres(place)))).toMatch(postgresql);
  expect(await toldBy(mysqlStore(createPool(place)))).toMatch(/Is it a MySQL or MariaDB server\?/);
});
