/** A test file as users write it: ts-jest compiles it to CommonJS, and Jest runs it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocks, evict, isLockError, LeaseLostError, type Store, StoreError } from 'holdfast';
import { connect } from 'holdfast/connect';
import { etcdStore } from 'holdfast/etcd';
import { sqlFence } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { mysqlStore } from 'holdfast/mysql';
import { postgresStore } from 'holdfast/postgres';
import { redisStore } from 'holdfast/redis';
import { sqliteStore } from 'holdfast/sqlite';
import { conformance, simulatedClock } from 'holdfast/testkit';
import { zookeeperStore } from 'holdfast/zookeeper';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { createClient } from 'redis';

declare function test(name: string, run: () => Promise<void>): void;
declare function expect(value: unknown): {
  toBe(expected: unknown): void;
  toBeInstanceOf(type: unknown): void;
};

test('a lock in a file, with a signal of the test and the errors of the package', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-jest-'));
  const locks = createLocks(sqliteStore(join(folder, 'locks.db')));
  try {
    const mutex = locks.mutex('a');
    await using lease = await mutex.acquire({ signal: new AbortController().signal });
    expect(await mutex.tryAcquire()).toBe(null);
    await evict(locks, 'a', { token: lease.token, reason: 'to see it told', now: true });
    await lease.ended;
    expect(lease.loss).toBeInstanceOf(LeaseLostError);
    expect(isLockError(lease.loss, 'LEASE_LOST')).toBe(true);
  } finally {
    await locks.close();
    rmSync(folder, { recursive: true });
  }
});

/** What says that there is no table is an error of Node's, not of Jest's. */
test('a fence that makes its table', async () => {
  // Node 20 has no SQLite.
  const builtIn = process.getBuiltinModule('node:sqlite');
  if (!builtIn) return;
  const db = new builtIn.DatabaseSync(':memory:');
  db.exec('BEGIN');
  sqlFence({ dialect: 'sqlite' }).enter(db, { resource: 'a', lineage: 'one', token: 1n });
  db.exec('COMMIT');
  expect(db.prepare('SELECT resource FROM holdfast_fence').get()?.resource).toBe('a');
  db.close();
});

test('a store that is named by a URL', async () => {
  const locks = await connect('memory:');
  expect(await locks.mutex('a').run(() => 'locked')).toBe('locked');
  await locks.close();
});

test('a store that cannot be opened', async () => {
  const locks = createLocks(sqliteStore('/nowhere/locks.db'));
  const error = await locks
    .mutex('a')
    .run(() => undefined)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreError);
  await locks.close();
});

/** Jest's own `Error` is not that of Node's sockets. */
const UNREACHABLE: Readonly<Record<string, () => Store>> = {
  etcd: () => etcdStore('http://127.0.0.1:1'),
  ioredis: () => redisStore(new Redis({ port: 1, lazyConnect: true })),
  mysql2: () => mysqlStore(createPool({ host: '127.0.0.1', port: 1 })),
  'node-redis': () => redisStore(createClient({ url: 'redis://127.0.0.1:1' })),
  pg: () => postgresStore(new Pool({ host: '127.0.0.1', port: 1 })),
  zookeeper: () => zookeeperStore('zookeeper://127.0.0.1:1'),
};

for (const [name, open] of Object.entries(UNREACHABLE)) {
  test(`${name}: a server that is not there, and why`, async () => {
    const locks = createLocks(open(), { ttl: '3s' });
    const error = await locks
      .mutex('a')
      .tryAcquire()
      .catch((reason: unknown) => reason);
    await locks.close();
    expect(/ECONNREFUSED/.test(String(error))).toBe(true);
  });
}

conformance({
  test,
  skip(name, reason) {
    if (reason.endsWith('all programs wait after a loss of data')) return;
    throw new Error(`${name} is left out: ${reason}`);
  },
  create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
    const clock = simulatedClock();
    const store = memoryStore({ clock, maxWaiters, quarantine });
    return {
      clock,
      connect: () => store,
      forget: () => store.forget(),
      leap: (ms) => clock.sleep(ms),
      dispose: () => clock.stop(),
    };
  },
  traits: memoryStore().traits,
  forgets: true,
  leaps: true,
});
