/** Limits of the server, of its sessions and of the user's pool. */
import type { Store } from 'holdfast';
import { mysqlStore } from 'holdfast/mysql';
import { createPool as mariadbPool } from 'mariadb';
import { createConnection, createPool } from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

serversOfTheirOwn();

/** Two heartbeats may fail and the lease goes on, also on a busy machine. */
const PATIENT_TTL_MS = paced(3000);

const LIMITS = {
  MariaDB: ['--max-statement-time=0.25', '--idle-transaction-timeout=1'],
  MySQL: ['--max-execution-time=250'],
} as const;

describe.concurrent.each(PRODUCTS)('%s', (product, start) => {
  describe('a server', () => {
    test('that limits statements and sessions keeps locks all the same', async () => {
      await using bed = new Bed(start);
      const server = await bed.server({ config: [...LIMITS[product], '--wait-timeout=1'] });
      const ttl = PATIENT_TTL_MS;
      const scene = await Scene.set(bed, { holder: server, others: server, ttl });
      await scene.expectUndisturbed(ttl * 1.2);
      await scene.leave(server);
    });

    test('that has no connection left says so, and whoever is in goes on', async () => {
      await using bed = new Bed(start);
      const server = await bed.server({ config: ['--max-connections=14'] });
      const ttl = PATIENT_TTL_MS;
      const scene = await Scene.set(bed, { holder: server, others: server, ttl });
      const leave = await crowdOut(bed, server);
      const store = bed.store(server);
      const full = { code: 'STORE', retryable: true, outcome: 'failed' };
      const message = expect.stringContaining('max_connections');
      await expect(store.inspect('a')).rejects.toMatchObject({ ...full, message });
      await scene.expectUndisturbed(ttl * 1.2);
      await leave();
      await until('was there room', async () => (await store.inspect('a')).holders.length === 0);
      await scene.leave(server);
    });
  });

  describe("the user's pool", () => {
    test.each([1, 2])('of size %i is exhausted, in transactions: locks go on', async (size) => {
      await using bed = new Bed(start);
      const { host, port } = await bed.server();
      const place = { host, port, user: bed.name, database: 'test' };
      const pool = createPool({ ...place, connectionLimit: size });
      for (let i = 0; i < size; i++) {
        const connection = await pool.getConnection();
        await connection.query('start transaction');
        bed.use({ close: () => connection.destroy() });
      }
      const known = { prefix: bed.name, maxTtl: PATIENT_TTL_MS };
      const open = async (): Promise<Store> => bed.use(mysqlStore(pool, known));
      const ttl = PATIENT_TTL_MS;
      const scene = await Scene.set(bed, { holder: open, others: open, ttl });
      await scene.expectUndisturbed(ttl * 1.2);
    });

    test('of mariadb reaches no server: that is said, with no warning of a pool', async () => {
      await using bed = new Bed(start);
      const pool = mariadbPool({ host: '127.0.0.1', port: 1, user: bed.name, database: 'test' });
      bed.use({ close: () => pool.end() });
      const warnings = bed.use(hearWarnings());
      const store = bed.use(mysqlStore(pool, { prefix: bed.name }));
      const message = expect.stringContaining('its server may not be running');
      const failed = { code: 'STORE', retryable: true, outcome: 'failed', message };
      await expect(store.inspect('a')).rejects.toMatchObject(failed);
      expect(warnings.codes).toEqual([]);
    });

    test('of mariadb lends none: it is said at once, and locks go on when it does', async () => {
      await using bed = new Bed(start);
      const { host, port } = await bed.server();
      const place = { host, port, user: bed.name, database: 'test' };
      const pool = mariadbPool({ ...place, connectionLimit: 1 });
      bed.use({ close: () => pool.end() });
      const connection = await pool.getConnection();
      await connection.query('start transaction');
      const warnings = bed.use(hearWarnings());
      const store = bed.use(mysqlStore(pool, { prefix: bed.name }));
      const lent = { code: 'STORE', retryable: true, outcome: 'failed' };
      const message = expect.stringContaining('has lent out all its connections');
      await expect(store.inspect('a')).rejects.toMatchObject({ ...lent, message });
      const code = 'HOLDFAST_POOL_EXHAUSTED';
      await until('was it warned of', async () => warnings.codes.includes(code));
      await connection.release();
      await until('was one lent', async () => (await store.inspect('a')).holders.length === 0);
    });
  });
});

/** Takes all connections that there are for ordinary users; answers how to give them back. */
async function crowdOut(bed: Bed, { host, port }: MysqlServer): Promise<() => Promise<void>> {
  const taken: { end(): Promise<void> }[] = [];
  const leave = async (): Promise<void> => {
    for (const each of taken.splice(0)) await each.end();
  };
  bed.use({ close: leave });
  for (;;) {
    const place = { host, port, user: bed.name, database: 'test' };
    const one = await createConnection(place).catch((error: { errno?: number }) => error);
    if (!('end' in one)) {
      expect(one.errno).toBe(1040);
      return leave;
    }
    taken.push(one);
  }
}
