/** Limits of the server, of its sessions and of the user's pool; a session that stands still. */
import type { Store } from 'holdfast';
import { postgresStore } from 'holdfast/postgres';
import { type Client, Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { claimOf, TTL_MS } from '../../methods/faults/bed.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { sessionOn } from './bed.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** Two heartbeats may fail and the lease goes on, also on a busy machine. */
const PATIENT_TTL_MS = paced(3000);

const FAILED = { code: 'STORE', retryable: true, outcome: 'failed' };

describe.concurrent('a session of the server', () => {
  test('stands still in a claim: others go on elsewhere, and then there', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const ttl = PATIENT_TTL_MS;
    const scene = await Scene.set(bed, { holder: server, others: server, ttl });
    // It has the lock of the first row and waits for that of the second when it is stopped.
    const other = await bed.block(server, 'b');
    const client = await sessionOn(bed, { url: server.urlOf({ user: bed.name }) });
    const stuck = client.query(`${bed.lockOf('a')}; ${bed.lockOf('b')}`);
    const settled = stuck.catch((error: unknown) => error);
    await until('was it in the middle', async () => (await bed.blocked(server)).length === 1);
    const [pid] = await bed.blocked(server);
    server.pause(pid);
    await other.close();
    const store = bed.store(server);
    const claim = claimOf('a', { ttlMs: TTL_MS });
    await expect(store.claim([claim])).rejects.toMatchObject(FAILED);
    expect(await store.claim([claimOf('b')])).toMatchObject([{ state: 'held' }]);
    // Longer than a TTL: without heartbeats they would be dead.
    await scene.expectUndisturbed(ttl * 1.2);
    server.resume(pid);
    await settled;
    await until('was it free', async () => {
      const [status] = await store.claim([{ ...claim, queue: false }]);
      return status?.state === 'held' || status?.state === 'gone';
    });
  });

  test('stands still in a heartbeat: the holder is told before others get it', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    // Nobody else has to do with this one, so it is the session of the heartbeats that waits.
    const other = await bed.block(server, 'probed');
    let stopped: readonly number[] = [];
    await until('did it wait', async () => {
      stopped = await bed.blocked(server);
      return stopped.length > 0;
    });
    for (const pid of stopped) server.pause(pid);
    await other.close();
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    for (const pid of stopped) server.resume(pid);
    await scene.expectSucceeded();
    await scene.leave(server);
  });
});

test.concurrent('a server with no connection left says so, and whoever is in goes on', async () => {
  await using bed = new Bed();
  const config = ['max_connections = 16', 'superuser_reserved_connections = 3'];
  const server = await bed.server({ config });
  const ttl = PATIENT_TTL_MS;
  const scene = await Scene.set(bed, { holder: server, others: server, ttl });
  const clients = await crowdOut(bed, server);
  const store = outsider(bed, server);
  const full = { ...FAILED, message: expect.stringContaining('max_connections') };
  await expect(store.inspect('a')).rejects.toMatchObject(full);
  await scene.expectUndisturbed(ttl * 1.2);
  for (const client of clients) await client.end();
  await until('was there room', async () => (await store.inspect('a')).holders.length === 0);
  await scene.leave(server);
});

test.concurrent.each([1, 2])(
  "the user's pool of size %i is exhausted, in transactions: locks go on",
  async (max) => {
    await using bed = new Bed();
    const server = await bed.server();
    const pool = bed.clientOf('pg', server) as Pool;
    pool.options.max = max;
    for (let i = 0; i < max; i++) {
      const client = await pool.connect();
      await client.query('BEGIN');
      bed.use({ close: () => client.release(true) });
    }
    const known = { schema: bed.name, maxTtl: PATIENT_TTL_MS };
    const open = async (): Promise<Store> => bed.use(postgresStore(pool, known));
    const ttl = PATIENT_TTL_MS;
    const scene = await Scene.set(bed, { holder: open, others: open, ttl });
    expect(pool.idleCount).toBe(0);
    await scene.expectUndisturbed(ttl * 1.2);
  },
);

/** As a user for whom no connection is kept. */
function outsider(bed: Bed, server: PostgresServer): Store {
  const pool = new Pool({ connectionString: server.urlOf({ user: 'outsider' }) });
  return bed.use(postgresStore(pool, { schema: bed.name }));
}

/** Takes all connections that there are for ordinary users. */
async function crowdOut(bed: Bed, server: PostgresServer): Promise<Client[]> {
  await server.query('CREATE ROLE outsider LOGIN');
  await server.query(`GRANT USAGE ON SCHEMA ${bed.name} TO outsider`);
  const tables = `ALL TABLES IN SCHEMA ${bed.name}`;
  await server.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO outsider`);
  const clients: Client[] = [];
  const place = { url: server.urlOf({ user: 'outsider' }) };
  for (;;) {
    const one = await sessionOn(bed, place).catch((error: { code?: string }) => error);
    if (!('connect' in one)) {
      expect(one.code).toBe('53300');
      return clients;
    }
    clients.push(one);
  }
}
