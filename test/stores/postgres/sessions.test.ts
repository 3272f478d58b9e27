/** The sessions of a store: lost, silent, refused, and without regard to the user's own. */
import type { Client } from 'pg';
import { describe, expect } from 'vitest';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import type { Bed } from './bed.ts';
import { CLIENTS, claimOf, failureOf, onOwn, sessionOn, sessionsOf, sleep } from './bed.ts';

serversOfTheirOwn();

/** Somebody else has the row of this resource, as one who stands still in a transaction. */
async function blocker(bed: Bed, server: PostgresServer, resource: string): Promise<Client> {
  const client = await sessionOn(bed, server);
  await client.query('BEGIN');
  await client.query('SELECT FROM holdfast.lock WHERE name = $1 FOR UPDATE', [resource]);
  return client;
}

describe.each(CLIENTS)('%s', (client) => {
  onOwn('two connections with a name, and none when it is closed', async (bed, server) => {
    const store = bed.store(server, { client });
    const watching = await store.watch?.(claimOf('a'), () => {});
    await store.claim([claimOf('a')]);
    expect(await sessionsOf(server)).toHaveLength(2);
    await watching?.[Symbol.asyncDispose]();
    await store.close?.();
    await until('ended', async () => (await sessionsOf(server)).length === 0);
    const closed = { code: 'STORE', retryable: false, outcome: 'failed' };
    await expect(store.inspect('a')).rejects.toMatchObject(closed);
  });

  onOwn('each call is one round trip', async (bed, server) => {
    const proxy = bed.serve(await TcpProxy.start(server.port));
    const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
    const store = bed.store({ url }, { client });
    const verbs = async (resource: string): Promise<void> => {
      const [one, two] = [claimOf(resource), claimOf(`${resource}2`)];
      await store.claim([one, two]);
      await store.renew([one, two]);
      await store.release([one, two]);
    };
    // The first call of each routine prepares it.
    await verbs('a');
    const before = proxy.turns;
    await verbs('b');
    await verbs('c');
    expect(proxy.turns - before).toBe(6);
  });

  onOwn('a call whose session ends meanwhile is of unknown outcome', async (bed, server) => {
    const store = bed.store(server, { client });
    await store.claim([claimOf('a')]);
    await blocker(bed, server, 'a');
    const failure = failureOf(store.claim([claimOf('a')]));
    let told = false;
    void failure.then(() => {
      told = true;
    });
    // It waits on the server for 50 ms at a time: whoever is seen waiting is ended at once.
    await until('ended', async () => {
      await server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'" +
          " AND application_name = 'holdfast'",
      );
      return told;
    });
    const unknown = { code: 'STORE', retryable: true, outcome: 'unknown' };
    expect(await failure).toMatchObject(unknown);
    await store.claim([claimOf('b')]);
  });

  onOwn('limits and habits of the role do not matter', async (bed, server) => {
    await server.query('CREATE ROLE limited LOGIN');
    await server.query('GRANT USAGE ON SCHEMA holdfast TO limited');
    const all = 'ON ALL TABLES IN SCHEMA holdfast TO limited';
    await server.query(`GRANT SELECT, INSERT, UPDATE, DELETE ${all}`);
    for (const setting of [
      ...["statement_timeout = '500ms'", "idle_session_timeout = '300ms'"],
      ...["default_transaction_isolation = 'serializable'", "client_encoding = 'LATIN1'"],
      ...["DateStyle = 'German'", "search_path = 'nowhere'", 'standard_conforming_strings = off'],
      ...["lock_timeout = '1ms'", "bytea_output = 'escape'", 'check_function_bodies = off'],
      "idle_in_transaction_session_timeout = '300ms'",
    ]) {
      await server.query(`ALTER ROLE limited SET ${setting}`);
    }
    const limited = { url: server.urlOf({ user: 'limited' }) };
    const [one, two] = [bed.store(limited, { client }), bed.store(limited, { client })];
    const name = "naïve 🔒 \u0000 \\ '";
    const claims = [claimOf(name), claimOf(name)] as const;
    const first = [claimOf('a')];
    await one.claim(first);
    await one.release(first);
    const enter = await Promise.all([one.claim([claims[0]]), two.claim([claims[1]])]);
    expect(enter.map(([status]) => status?.state).sort()).toEqual(['held', 'waiting']);
    // A session that listens, beside those of the claims.
    await two.watch?.(claims[1], () => {});
    const before = await sessionsOf(server);
    // Longer than a statement of this role may take, and a session be idle.
    const other = await blocker(bed, server, 'a');
    const claim = one.claim([claimOf('a')]);
    await sleep(800);
    await other.query('ROLLBACK');
    expect((await claim)[0]?.state).toBe('held');
    expect((await two.inspect(name)).holders).toHaveLength(1);
    // The server may not have heard yet, before, of a store that was closed.
    const after = await sessionsOf(server);
    expect([after.length, after.filter((pid) => !before.includes(pid))]).toEqual([3, []]);
  });
});
