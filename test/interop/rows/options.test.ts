/** What is refused before anything is sent, and what the rows look like to others. */
import { createLocks, type Store } from 'holdfast';
import { shedlockJdbcStore } from 'holdfast/shedlock';
import { springJdbcStore } from 'holdfast/spring';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { lockKeyOf } from '../../../src/interop/spring/layout.ts';
import { type Ground, ground, POSTGRES } from './ground.ts';
import { intLock, SHEDLOCK } from './tables.ts';

/** Never connected. */
const pool = new pg.Pool({ connectionString: 'postgres://unused' });
const USAGE = expect.objectContaining({ code: 'USAGE' });

describe('refused', () => {
  it.each([
    { table: 'a b' },
    { table: '"shedlock"' },
    { table: '' },
    { name: 'a' },
    { retry: 0 },
    { clockSkew: 'much' },
    { region: 'a' },
  ])('shedlockJdbcStore(pool, %o)', (options) => {
    expect(() => shedlockJdbcStore(pool, options as never)).toThrow(USAGE);
  });

  it.each([
    {},
    { version: 5 },
    { version: 7, timeToLive: '10s' },
    { version: 6, timeToLive: 0 },
    { version: 7, region: '' },
    { version: 7, region: 'r'.repeat(101) },
    { version: 7, table: 'INT_LOCK; DROP TABLE a' },
  ])('springJdbcStore(pool, %o)', (options) => {
    expect(() => springJdbcStore(pool, options as never)).toThrow(USAGE);
  });

  it('what is no pool', () => {
    const client = new pg.Client();
    expect(() => shedlockJdbcStore(client)).toThrow(/takes a pool/);
    expect(() => springJdbcStore({} as never, { version: 7 })).toThrow(USAGE);
  });

  it.each(['x'.repeat(65), 'a\0b'])('a name for which ShedLock has no room', async (name) => {
    const locks = createLocks(shedlockJdbcStore(pool));
    await expect(locks.mutex(name).acquire()).rejects.toThrow(/room for 1 to 64 characters/);
  });
});

test.each([
  ['foo', 'acbd18db-4cc2-385c-adef-654fccc4a4d8'],
  ['my-lock', 'eda23b8c-64b2-3f01-8c10-660455d15168'],
  ['orders/42', 'd5642a7a-3ff9-3c02-839e-0a4ee8b8f024'],
  ['ключ', 'c3657b66-c60a-3072-92aa-e11f07b04ae7'],
  ['0d4f6a0e-1c2b-4a5d-8e9f-001122334455', '0d4f6a0e-1c2b-4a5d-8e9f-001122334455'],
  ['0D4F6A0E-1C2B-4A5D-8E9F-001122334455', '0d4f6a0e-1c2b-4a5d-8e9f-001122334455'],
])('the key of %s is that of Java', (name, key) => {
  expect(lockKeyOf(name)).toBe(key);
});

describe('rows', () => {
  let place: Ground;
  beforeAll(async () => {
    place = await ground(POSTGRES, `${SHEDLOCK.postgres}; ${intLock('postgres', 6)}`);
  });
  afterAll(() => place.close());

  const rows = async (text: string): Promise<unknown[]> =>
    ((await place.send(text)) as { rows: unknown[] }).rows;
  const held = async (store: Store) => {
    const lease = await createLocks(store, { ttl: '20s' }).mutex('shown').acquire();
    return { lease, holder: (await store.inspect('shown')).holders[0]?.holder };
  };

  it('of ShedLock show host and process, and stay', async () => {
    const { lease, holder } = await held(shedlockJdbcStore(place.db));
    expect(holder).toMatchObject({ pid: process.pid });
    const [row] = await rows('SELECT locked_by FROM shedlock');
    expect(row).toMatchObject({ locked_by: expect.stringMatching(/:\d+:[\da-f]{32}$/) });
    await lease.release();
    const count =
      'SELECT count(*)::int AS n FROM shedlock WHERE lock_until > timezone($$utc$$, now())';
    expect(await rows(count)).toEqual([{ n: 0 }]);
    expect(await rows('SELECT locked_by FROM shedlock')).toMatchObject([
      { locked_by: expect.stringMatching(/:released$/) },
    ]);
  });

  it('of Spring before 7 end as the registry reckons, and are deleted', async () => {
    const store = springJdbcStore(place.db, { version: 6, timeToLive: '10s', clockSkew: 0 });
    const { lease, holder } = await held(store);
    expect(holder).toMatchObject({ pid: 0 });
    // As Java: CREATED_DATE + 10 s.
    const left =
      "SELECT extract(epoch FROM CREATED_DATE + interval '10 s' - timezone('utc', now())) AS s";
    const [{ s } = { s: 0 }] = (await rows(`${left} FROM INT_LOCK`)) as { s: number }[];
    expect(Number(s)).toBeGreaterThan(15);
    expect(Number(s)).toBeLessThanOrEqual(20);
    await lease.release();
    expect(await rows('SELECT 1 FROM INT_LOCK')).toEqual([]);
  });

  it('without their table are reported with what to do', async () => {
    const locks = createLocks(shedlockJdbcStore(place.db, { table: 'elsewhere' }));
    await expect(locks.mutex('a').acquire()).rejects.toThrow(/docs\/stores\/shedlock.md/);
  });

  it('of the wrong version are refused by the database', async () => {
    const locks = createLocks(springJdbcStore(place.db, { version: 7 }));
    await expect(locks.mutex('a').acquire()).rejects.toThrow(/docs\/stores\/spring.md/);
  });
});
