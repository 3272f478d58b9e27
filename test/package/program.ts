/**
 * What programs do with locks, run in every style and on every runtime: `program FILE`, with the
 * file of an SQLite store, or `program memory`. `BESIDE` may be a command, as JSON, that runs the
 * same program on another runtime beside this one.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, createLocks, evict, isLockError, type LeaseLostError, type Locks } from 'holdfast';
import { type SqliteConnection, sqlFence } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';

const [self = '', file = '', part = 'all'] = process.argv.slice(1);
const counter = `${file}.count`;
const LIBSQL: string = 'libsql';
const ROUNDS = 30;
const TTL_MS = 30_000;
const own: readonly string[] = [process.execPath, ...process.execArgv, self];
const beside = JSON.parse(process.env.BESIDE ?? 'null') as readonly string[] | null;

const parts: Readonly<Record<string, (locks: Locks) => Promise<unknown>>> = { all, count, wait };

async function main(): Promise<void> {
  const store = file === 'memory' ? memoryStore() : sqliteStore(file);
  const locks = createLocks(store, { ttl: TTL_MS });
  if (part === 'forget') {
    // Neither released nor closed: the process ends all the same.
    await locks.mutex('forgotten').acquire();
    return;
  }
  await parts[part]?.(locks);
  await locks.close();
  if (part === 'all') console.log(`passed on ${store.name}`);
}

async function all(locks: Locks): Promise<void> {
  await releasedByUsing(locks);
  await nested(locks);
  await several(locks);
  await evicted(locks);
  if (file === 'memory') return;
  await processesExclude();
  await waiterIsWoken(locks);
  await fenceHolds(locks);
  await processWith('forget');
}

async function releasedByUsing(locks: Locks): Promise<void> {
  {
    await using lease = await locks.mutex('using').acquire({ wait: '5s' });
    assert.ok(lease.held);
    assert.equal(await locks.mutex('using').tryAcquire(), null);
  }
  assert.deepEqual(await locks.mutex('using').tryRun(() => 1), { acquired: true, value: 1 });
}

async function nested(locks: Locks): Promise<void> {
  await locks.mutex('nested').run(async (outer) => {
    await sleep(1);
    const again = locks.mutex('nested').run(() => undefined);
    await assert.rejects(again, (error) => isLockError(error, 'DEADLOCK'));
    const inner = locks.mutex('nested', { reentrant: true }).run((lease) => lease === outer);
    assert.equal(await inner, true);
  });
}

async function several(locks: Locks): Promise<void> {
  const { read, write } = locks.rwLock('read-write');
  const semaphore = locks.semaphore('semaphore', { limit: 2 });
  const both = allOf([locks.mutex('a'), semaphore]);
  assert.equal(await both.run(({ signal }) => signal.aborted), false);
  const readers = [read, read].map((lock) => lock.run(() => sleep(1, 'read')));
  assert.deepEqual(await Promise.all(readers), ['read', 'read']);
  const refused = await read.run(() => write.tryRun(() => undefined));
  assert.equal(refused.acquired, false);
}

async function evicted(locks: Locks): Promise<void> {
  const work = locks.mutex('evicted').run(async ({ signal, token }) => {
    const aborted = once(signal, 'abort');
    await evict(locks, 'evicted', { token, reason: 'to see it told', now: true });
    await aborted;
  });
  await assert.rejects(work, (error) => {
    return isLockError(error, 'LEASE_LOST') && (error as LeaseLostError).reason === 'evicted';
  });
}

async function processesExclude(): Promise<void> {
  writeFileSync(counter, '0');
  await Promise.all([processWith('count'), processWith('count', beside ?? own)]);
  assert.equal(readFileSync(counter, 'utf8'), String(2 * ROUNDS));
}

async function count(locks: Locks): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await locks.mutex('counter').run(async () => {
      const seen = Number(readFileSync(counter, 'utf8'));
      await sleep(1);
      writeFileSync(counter, String(seen + 1));
    });
  }
}

async function waiterIsWoken(locks: Locks): Promise<void> {
  const lease = await locks.mutex('gate').acquire();
  const waiter = processWith('wait');
  while ((await locks.inspect('gate')).waiters.length === 0) await sleep(10);
  await lease.release();
  // If nobody woke it, it would ask with its heartbeat, at a third of the TTL.
  const heartbeat = sleep(TTL_MS / 3 - 1_000, 'woken by nobody', { ref: false });
  const first = await Promise.race([waiter, heartbeat]);
  assert.match(first, /^woken by the release/);
}

async function wait(locks: Locks): Promise<void> {
  const [holder] = (await locks.inspect('gate')).holders;
  // More would be left if the clock began with the process, for the holder's is the older one.
  assert.ok(holder && holder.leftMs <= TTL_MS);
  await locks.mutex('gate').run(() => console.log('woken by the release'));
}

async function fenceHolds(locks: Locks): Promise<void> {
  const database = await openDatabase();
  const fence = sqlFence({ dialect: 'sqlite' });
  const enter = (lease: Parameters<typeof fence.enter>[1]): void => {
    database.exec('BEGIN IMMEDIATE');
    try {
      fence.enter(database, lease);
    } finally {
      database.exec('COMMIT');
    }
  };
  const mutex = locks.mutex('fenced');
  const early = await mutex.acquire();
  enter(early);
  await early.release();
  await mutex.run(enter);
  const late = (): void => enter(early);
  assert.throws(late, (error) => isLockError(error, 'STALE_TOKEN'));
}

type Libsql = { readonly default: new (path: string) => SqliteConnection };

async function openDatabase(): Promise<SqliteConnection> {
  const builtIn = process.getBuiltinModule('node:sqlite');
  if (builtIn) return new builtIn.DatabaseSync(`${file}.data`);
  // Named where no bundler sees it: it is native code.
  const { default: Database } = (await import(LIBSQL)) as Libsql;
  return new Database(`${file}.data`);
}

/** Runs a part in a process of its own; answers what it printed. */
async function processWith(other: string, [command = '', ...args] = own): Promise<string> {
  const child = spawn(command, [...args, file, other], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // It hangs: beside tests that count time, it waits long for its turn.
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (complaints += chunk));
  const [code, signal] = await once(child, 'close');
  assert.deepEqual({ code, signal, complaints }, { code: 0, signal: null, complaints: '' }, other);
  return output.trim();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
