/** Tables whose columns or keys would let two hold are refused, with what mends them. */
import { createLocks, type Store } from 'holdfast';
import { type SqlDatabase, shedlockJdbcStore } from 'holdfast/shedlock';
import { springJdbcStore } from 'holdfast/spring';
import { tableSchema, tableStore } from 'holdfast/table';
import { createPool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { connectionOf } from '../../../src/clients/sql/connection.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { DATABASES, type Ground, ground, MARIADB, POSTGRES } from './ground.ts';
import { intLock, SHEDLOCK } from './tables.ts';

const shedlock = (db: SqlDatabase): Store => shedlockJdbcStore(db);
const spring = (db: SqlDatabase): Store => springJdbcStore(db, { version: 7 });
const documents = (db: SqlDatabase): Store => tableStore(db);

/** With a column in it that differs between rows of one lock. */
const wider = (table: string): string =>
  table.replace('(LOCK_KEY, REGION)', '(LOCK_KEY, REGION, CREATED_DATE)');

type Case = readonly [why: string, open: (db: SqlDatabase) => Store, table: string, says: RegExp];

const PG = SHEDLOCK.postgres;
const PG_REGISTRY = intLock('postgres', 7);
const PG_DOCUMENTS = tableSchema('postgres');
const LOOSE = `CREATE COLLATION IF NOT EXISTS loose
  (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`;
const ON_POSTGRES: readonly Case[] = [
  ['a zone', shedlock, PG.replace('TIMESTAMP', 'timestamptz'), /lock_until is compared in the/],
  ['a zone', spring, PG_REGISTRY.replaceAll('TIMESTAMP', 'timestamptz'), /EXPIRED_AFTER/],
  ['whole seconds', shedlock, PG.replace('TIMESTAMP', 'timestamp(0)'), /no fractions/],
  ['a short name', shedlock, PG.replace('(64)', '(50)'), /name is too short/],
  [
    'a short holder',
    spring,
    PG_REGISTRY.replace('CLIENT_ID CHAR(36)', 'CLIENT_ID CHAR(32)'),
    /CLIENT_ID is too short/,
  ],
  ['loose names', shedlock, PG.replace('(64)', '(64) COLLATE loose'), /name equates different/],
  [
    'loose versions',
    documents,
    PG_DOCUMENTS.replace('version text', 'version text COLLATE loose'),
    /version equates/,
  ],
  ['another order', documents, PG_DOCUMENTS.replace('"C"', '"und-x-icu"'), /name is not sorted/],
  ['no key', shedlock, PG.replace(', PRIMARY KEY (name)', ''), /rows may have the same name/],
  ['no key', documents, PG_DOCUMENTS.replace(' PRIMARY KEY', ''), /rows may have the same name/],
  ['a wider key', spring, wider(PG_REGISTRY), /rows may have the same lock_key, region\./],
];

const MY = SHEDLOCK.mysql;
const MY_REGISTRY = intLock('mysql', 7);
const MY_DOCUMENTS = tableSchema('mysql');
const ON_MYSQL: readonly Case[] = [
  [
    'whole seconds',
    shedlock,
    MY.replace('TIMESTAMP(3)', 'DATETIME'),
    /lock_until has no fractions/,
  ],
  ['whole seconds', spring, MY_REGISTRY.replaceAll('DATETIME(6)', 'DATETIME'), /EXPIRED_AFTER/],
  ['a short name', shedlock, MY.replace('(64)', '(50)'), /name is too short/],
  ['letters', documents, MY_DOCUMENTS.replace('varbinary(767)', 'varchar(190)'), /name equates/],
  ['a short text', documents, MY_DOCUMENTS.replace('mediumblob', 'blob'), /text is too short/],
  ['no key', shedlock, MY.replace(/,\s+PRIMARY KEY \(name\)/, ''), /rows may have the same name/],
  ['no key', documents, MY_DOCUMENTS.replace(' PRIMARY KEY', ''), /rows may have the same name/],
  ['a wider key', spring, wider(MY_REGISTRY), /rows may have the same LOCK_KEY, REGION\./],
  ['an old engine', shedlock, `${MY} ENGINE = MyISAM`, /its engine, MyISAM, has no transactions\./],
];

/** What its first verb says; the last one has been answered then. */
async function refusalOf(store: Store): Promise<string> {
  await using locks = createLocks(store);
  const asked = locks.mutex('a').tryAcquire();
  const error = await asked.catch((reason: unknown) => reason);
  const cause = { code: 'USAGE' };
  expect(error).toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed', cause });
  return (error as Error).message;
}

async function works(store: Store): Promise<void> {
  await using locks = createLocks(store);
  expect(await locks.mutex('a').tryRun(() => 1)).toMatchObject({ acquired: true });
}

describe.each(DATABASES)('%s', (_, database) => {
  const { dialect } = database;
  let place: Ground;
  beforeAll(async () => {
    place = await ground(database, dialect === 'postgres' ? LOOSE : 'SELECT 1');
  });
  afterAll(() => place.close());

  const anew = async (table: string): Promise<void> => {
    for (const name of ['shedlock', 'INT_LOCK', 'holdfast_documents']) {
      await place.send(`DROP TABLE IF EXISTS ${name}`);
    }
    await place.send(table);
  };

  it.each(dialect === 'postgres' ? ON_POSTGRES : ON_MYSQL)('%s', async (_, open, table, says) => {
    await anew(table);
    const message = await refusalOf(open(place.db));
    expect(message).toMatch(says);
    const [name = ''] = /shedlock|INT_LOCK|holdfast_documents/.exec(table) ?? [];
    expect(await connectionOf(place.db).rows(`SELECT 1 AS one FROM ${name}`)).toEqual([]);
    await place.send(message.slice(message.indexOf('\nALTER TABLE') + 1));
    await works(open(place.db));
  });

  if (dialect === 'mysql') {
    it('a session of another offset than the first', async () => {
      await anew(MY);
      // Its only connection becomes what another one of a larger pool may be.
      const uri = place.url.replace('mariadb:', 'mysql:');
      const pool = createPool({ uri, connectionLimit: 1 });
      const store = shedlock(pool);
      const claim = claimOf('a');
      await pool.query(`SET time_zone = '+05:30'`);
      expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
      await pool.query(`SET time_zone = '+02:00'`);
      const message = expect.stringMatching(/different time zones/);
      const refused = [{ state: 'error', error: { message } }];
      expect(await store.claim([claimOf('a')])).toMatchObject(refused);
      expect(await store.claim([claimOf('b')])).toMatchObject(refused);
      expect(await store.renew([claim])).toMatchObject(refused);
      await expect(store.inspect('a')).rejects.toThrow(/different time zones/);
      await pool.query(`SET time_zone = '+05:30'`);
      expect(await store.release([claim])).toEqual([true]);
      await pool.end();
    });
  }

  it('a table that is made after the first verb', async () => {
    await anew('SELECT 1');
    const store = shedlock(place.db);
    await expect(store.inspect('a')).rejects.toThrow(/must be as its library makes it/);
    await anew(SHEDLOCK[dialect].replace('(64)', '(50)'));
    await expect(store.inspect('a')).rejects.toThrow(/name is too short/);
  });

  it('a view is not judged', async () => {
    await anew(SHEDLOCK[dialect].replace('(64)', '(50)').replace('shedlock', 'kept'));
    await place.send('CREATE VIEW seen AS SELECT * FROM kept');
    await works(shedlockJdbcStore(place.db, { table: 'seen' }));
    await place.send('DROP VIEW seen');
    await place.send('DROP TABLE kept');
  });
});

test('a look that failed is made again, one that succeeded is not', async () => {
  const place = await ground(POSTGRES, PG);
  const connection = connectionOf(place.db);
  let looks = 0;
  const db: SqlDatabase = {
    dialect: 'postgres',
    transaction: false,
    rows(sql, values) {
      if (sql.includes('information_schema') && ++looks === 1) throw new Error('not now');
      return connection.rows(sql.replace(/\$\d+/g, '?'), values);
    },
    count: () => Promise.reject(new Error('nothing is written')),
  };
  const store = shedlock(db);
  expect(looks).toBe(0);
  await expect(store.inspect('a')).rejects.toThrow(/not now/);
  for (let n = 0; n < 2; n++) {
    const queues = await Promise.all(['a', 'b', 'c'].map((name) => store.inspect(name)));
    expect(queues.flatMap(({ holders }) => holders)).toEqual([]);
  }
  expect(looks).toBe(2);
  await place.close();
});

test('a table is found in its schema, by its name as it is', async () => {
  const place = await ground(POSTGRES, `CREATE SCHEMA "Mine"; CREATE SCHEMA other`);
  await place.send(tableSchema('postgres', 'Mine.Locks'));
  const loose = 'name text COLLATE "und-x-icu", text text, version text';
  await place.send(`CREATE TABLE other.locks (${loose})`);
  await works(tableStore(place.db, { table: 'Mine.Locks' }));
  const message = await refusalOf(tableStore(place.db, { table: 'other.locks' }));
  const cure = 'ALTER TABLE "other"."locks" ALTER COLUMN "name" TYPE text COLLATE "C"';
  expect(message).toContain(cure);
  await place.close();
});

describe('TIMESTAMP columns of MariaDB', () => {
  /** As Berlin has it, without a file of zones. */
  const BERLIN = { TZ: 'CET-1CEST,M3.5.0,M10.5.0/3' };
  let place: Ground;
  beforeAll(async () => {
    place = await ground({ ...MARIADB, start: () => startMariadb({ env: BERLIN }) }, MY);
  });
  afterAll(() => place.close());

  test.each(['+05:30', '+00:00'])('in the zone %s', async (zone) => {
    await place.send(`SET time_zone = '${zone}'`);
    await works(shedlock(place.db));
    await place.send('DELETE FROM shedlock');
  });

  test('in a zone with summer time', async () => {
    await place.send(`SET time_zone = SYSTEM`);
    const message = await refusalOf(shedlock(place.db));
    expect(message).toMatch(/lock_until depends on .*, locked_at depends on/);
    await place.send(message.slice(message.indexOf('\nALTER TABLE') + 1));
    await works(shedlock(place.db));
  });
});
