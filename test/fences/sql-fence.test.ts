import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'libsql';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sqlFence } from '../../src/fences/index.ts';
import type { SqliteConnection } from '../../src/fences/sql/sqlite.ts';
import { createLocks, isLockError } from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';

const fence = sqlFence({ dialect: 'sqlite' });
const lineage = 'one';
let db: InstanceType<typeof Database>;

beforeEach(() => {
  db = new Database(':memory:');
});

function enter(token: bigint | string, options: object = {}): void {
  db.exec('BEGIN');
  try {
    fence.enter(db, { resource: 'stock', lineage, token, ...options });
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

/** The database through a binding that finalizes its statements when asked, as node:sqlite does. */
function counted(): {
  readonly binding: SqliteConnection;
  readonly texts: readonly string[];
  readonly finalize: () => void;
} {
  const texts: string[] = [];
  let opened = 0;
  const prepare: SqliteConnection['prepare'] = (sql) => {
    texts.push(sql);
    const statement = db.prepare(sql);
    const of = opened;
    return {
      get(...values) {
        if (of === opened) return statement.get(...values);
        const message = 'statement has been finalized';
        throw Object.assign(new Error(message), { code: 'ERR_INVALID_STATE' });
      },
    };
  };
  const exec = (sql: string): unknown => db.exec(sql);
  const binding = { prepare, exec, inTransaction: true };
  return { binding, texts, finalize: () => opened++ };
}

describe('a fence', () => {
  test('lets the newest holder in, again and again', () => {
    enter(33n);
    enter(33n);
    enter(34n);
    enter('35');
  });

  test('refuses an older one, and says which came in', () => {
    enter(34n);
    expect(() => enter(33n)).toThrow(
      expect.objectContaining({ code: 'STALE_TOKEN', resource: 'stock', token: 33n, seen: 34n }),
    );
    enter(34n);
  });

  test('is claim-first: a holder that has only read already stops the older one', () => {
    db.exec('CREATE TABLE stock (n INTEGER); INSERT INTO stock VALUES (10)');
    enter(33n);
    enter(34n);
    expect(() => enter(33n)).toThrow(expect.objectContaining({ code: 'STALE_TOKEN' }));
  });

  test('keeps tokens apart that a double cannot', () => {
    const big = 2n ** 62n;
    enter(big + 1n);
    expect(() => enter(big)).toThrow(expect.objectContaining({ seen: big + 1n }));
    enter(big + 2n);
  });

  test('is one for each resource, byte by byte', () => {
    enter(34n);
    enter(1n, { resource: 'Stock' });
    enter(1n, { resource: 'stock ' });
    enter(1n, { resource: 'stock\0a' });
    enter(2n, { resource: 'stock\0b' });
    expect(() => enter(1n, { resource: 'stock\0b' })).toThrow();
    enter(1n, { resource: 'stock\0a' });
  });

  test('keeps writers behind readers and readers behind writers, but not readers apart', () => {
    enter(5n, { kind: 'read' });
    enter(7n, { kind: 'read' });
    enter(6n, { kind: 'read' });
    expect(() => enter(6n, { kind: 'write' })).toThrow(expect.objectContaining({ seen: 7n }));
    enter(8n, { kind: 'write' });
    expect(() => enter(7n, { kind: 'read' })).toThrow(expect.objectContaining({ seen: 8n }));
    enter(8n, { kind: 'read' });
  });

  test('refuses another lineage until an operator adopts it', () => {
    enter(34n);
    expect(() => enter(99n, { lineage: 'two' })).toThrow(/another store, one/);
    db.exec('BEGIN');
    fence.adopt(db, { resource: 'stock', lineage: 'two', token: 1n });
    db.exec('COMMIT');
    enter(1n, { lineage: 'two' });
    expect(() => enter(99n)).toThrow(expect.objectContaining({ code: 'STALE_TOKEN' }));
  });

  test('what a transaction raised is undone with it', () => {
    db.exec('BEGIN');
    fence.enter(db, { resource: 'stock', lineage, token: 34n });
    db.exec('ROLLBACK');
    enter(33n);
  });

  test('wants a transaction, an exclusive or a read lease, and a real token', () => {
    const lease = { resource: 'stock', lineage, token: 1n };
    expect(() => fence.enter(db, lease)).toThrow(/inside the transaction/);
    expect(() => enter(1n, { kind: 'permits' })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    );
    for (const token of [
      0n,
      -1n,
      '',
      '1e3',
      '0x10',
      '99999999999999999999',
      '9999999999999999999',
      2n ** 63n,
      5,
      undefined,
    ]) {
      expect(() => enter(token as bigint)).toThrow(expect.objectContaining({ code: 'USAGE' }));
    }
  });

  test('asks SQLite where the binding does not say whether it is in a transaction', () => {
    const lease = { resource: 'stock', lineage, token: 1n };
    const silent = {
      prepare: (sql: string) => db.prepare(sql),
      exec: (sql: string) => db.exec(sql),
    };
    expect(() => fence.enter(silent, lease)).toThrow(/inside the transaction/);
    db.exec('BEGIN');
    fence.enter(silent, lease);
    db.exec('COMMIT');
    expect(db.inTransaction).toBe(false);
  });

  test('prepares a statement once for each connection, and again if it has failed', () => {
    const { binding, texts } = counted();
    const enterAt = (token: bigint): void => {
      db.exec('BEGIN');
      try {
        fence.enter(binding, { resource: 'stock', lineage, token });
      } finally {
        db.exec('COMMIT');
      }
    };
    enter(1n);
    for (const token of [1n, 2n, 3n]) enterAt(token);
    expect(texts).toHaveLength(1);
    db.exec('DROP TABLE holdfast_fence');
    enterAt(1n);
    enterAt(2n);
    expect(texts).toHaveLength(2);
  });

  test('keeps no statement alive, which would keep its connection alive', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { binding, texts } = counted();
    db.exec('BEGIN');
    fence.enter(binding, { resource: 'stock', lineage, token: 1n });
    // What a job has looked at weakly lives until its end.
    await new Promise((resolve) => setImmediate(resolve));
    const prepared = texts.length;
    collect();
    fence.enter(binding, { resource: 'stock', lineage, token: 2n });
    db.exec('COMMIT');
    expect(texts.length).toBe(prepared + 1);
  });

  test('goes on with a connection that was closed and opened again', () => {
    const { binding, finalize } = counted();
    enter(5n);
    db.exec('BEGIN');
    fence.enter(binding, { resource: 'stock', lineage, token: 5n });
    finalize();
    fence.enter(binding, { resource: 'stock', lineage, token: 6n });
    finalize();
    // As in a database in memory, which is then empty.
    db.exec('DROP TABLE holdfast_fence');
    fence.enter(binding, { resource: 'stock', lineage, token: 1n });
    db.exec('COMMIT');
    expect(() => enter(1n, { lineage: 'two' })).toThrow(/another store/);
  });

  test('refuses dialects it does not have and tables that are no identifiers', () => {
    const tables = ['x; DROP', '1x', 'a b', 'a"', 'a\n', 'x'.repeat(64)];
    const wrong = tables.map((table) => ({ dialect: 'sqlite', table }));
    for (const options of [{ dialect: 'oracle' }, ...wrong]) {
      expect(() => sqlFence(options as { dialect: 'sqlite' })).toThrow(
        expect.objectContaining({ code: 'USAGE' }),
      );
    }
    for (const table of ['fences', 'T_1', 'x'.repeat(63)]) {
      expect(sqlFence({ dialect: 'sqlite', table }).schema).toContain(table);
    }
  });
});

test('leases of the SQLite store pass in the order in which they were granted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await using locks = createLocks(sqliteStore(join(folder, 'locks.db')));
  const first = await locks.mutex('stock').acquire();
  const stale = { resource: first.resource, lineage: first.lineage, token: first.token };
  await first.release();
  await locks.mutex('stock').run((lease) => {
    db.exec('BEGIN');
    fence.enter(db, lease);
    db.exec('COMMIT');
  });
  db.exec('BEGIN');
  let refused: unknown;
  try {
    fence.enter(db, stale);
  } catch (error) {
    refused = error;
  }
  db.exec('ROLLBACK');
  expect(isLockError(refused, 'STALE_TOKEN')).toBe(true);
});
