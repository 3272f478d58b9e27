import Database from 'libsql';
import { beforeEach, describe, expect, test } from 'vitest';
import { sqlFence } from '../../src/fences/index.ts';
import type { SqliteConnection } from '../../src/fences/sql/sqlite.ts';
import { collect } from '../support/garbage.ts';

const fence = sqlFence({ dialect: 'sqlite' });
const lineage = 'one';
let db: InstanceType<typeof Database>;

beforeEach(() => {
  db = new Database(':memory:');
});

function enter(
  token: bigint | string,
  options: object = {},
  connection: SqliteConnection = db,
): void {
  db.exec('BEGIN');
  try {
    fence.enter(connection, { resource: 'stock', lineage, token, ...options });
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
  test('is one for each resource, byte by byte', () => {
    enter(34n);
    enter(1n, { resource: 'Stock' });
    enter(1n, { resource: 'stock ' });
    enter(1n, { resource: 'stock\0a' });
    enter(2n, { resource: 'stock\0b' });
    expect(() => enter(1n, { resource: 'stock\0b' })).toThrow();
    enter(1n, { resource: 'stock\0a' });
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
    const soon = Promise.resolve(lease) as unknown as typeof lease;
    expect(() => fence.enter(db, soon)).toThrow(/not a promise: await it/);
    expect(() => enter(1n, { kind: 'permits' })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    );
    const tooGreat = ['99999999999999999999', '9999999999999999999', 2n ** 63n];
    for (const token of [0n, -1n, '', '1e3', '0x10', ...tooGreat, 5, undefined]) {
      expect(() => enter(token as bigint)).toThrow(expect.objectContaining({ code: 'USAGE' }));
    }
    enter('35');
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
    enter(1n);
    for (const token of [1n, 2n, 3n]) enter(token, {}, binding);
    expect(texts).toHaveLength(1);
    db.exec('DROP TABLE holdfast_fence');
    for (const token of [1n, 2n]) enter(token, {}, binding);
    expect(texts).toHaveLength(2);
  });

  test('keeps no statement alive, which would keep its connection alive', async () => {
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
