/**
 * Which kind of lock: workers sell from stock in PostgreSQL. Each reads a row, works for a
 * millisecond, and writes the row, by each way in turn: all want one row, or any of 64.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks, type Locks } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import { optimistic, rowLock, transactionLock } from 'holdfast/sql';
import pg from 'pg';
import { type Result, report, shuffled } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { merged } from '../measuring/table.ts';

const WORKERS = [1, 8, 64];
const ROWS = [1, 64];
const MEASURE_MS = 600;
const ROUNDS = 3;
const WORK_MS = 1;

interface Stock {
  readonly n: number;
}

/** Sells one. */
type Sell = (id: number) => Promise<void>;

async function transaction(
  pool: pg.Pool,
  work: (tx: pg.PoolClient) => Promise<void>,
): Promise<void> {
  const tx = await pool.connect();
  try {
    await tx.query('BEGIN');
    await work(tx);
    await tx.query('COMMIT');
  } catch (error) {
    await tx.query('ROLLBACK');
    throw error;
  } finally {
    tx.release();
  }
}

/** With whatever excludes others, or nothing. */
async function readAndWrite(db: pg.Pool | pg.PoolClient, id: number): Promise<void> {
  const { rows } = await db.query<Stock>('SELECT n FROM stock WHERE id = $1', [id]);
  await sleep(WORK_MS);
  await db.query('UPDATE stock SET n = $2 WHERE id = $1', [id, (rows[0]?.n ?? 0) - 1]);
}

const fence = sqlFence({ dialect: 'postgres' });

function waysOn(pool: pg.Pool, here: Locks, shared: Locks): Readonly<Record<string, Sell>> {
  const fenced = (id: number, fair: boolean): Promise<void> =>
    shared.mutex(`stock:${id}`, { fair }).run((lease) =>
      transaction(pool, async (tx) => {
        await fence.enter(tx, lease);
        await readAndWrite(tx, id);
      }),
    );
  return {
    'no lock': (id) => readAndWrite(pool, id),
    'row lock': (id) =>
      transaction(pool, async (tx) => {
        const options = { table: 'stock', key: { id }, insert: false } as const;
        const { n } = await rowLock<Stock>(tx, options);
        await sleep(WORK_MS);
        await tx.query('UPDATE stock SET n = $2 WHERE id = $1', [id, n - 1]);
      }),
    'advisory lock': (id) =>
      transaction(pool, async (tx) => {
        await transactionLock(tx, `stock:${id}`);
        await readAndWrite(tx, id);
      }),
    'version column': async (id) => {
      const options = { table: 'stock', key: { id }, version: 'version', attempts: 1_000 };
      await optimistic<Stock>(pool, options, async ({ n }) => {
        await sleep(WORK_MS);
        return { n: n - 1 };
      });
    },
    'holdfast, memory': (id) => here.mutex(`stock:${id}`).run(() => readAndWrite(pool, id)),
    'holdfast, PostgreSQL, fence': (id) => fenced(id, false),
    'holdfast, PostgreSQL, fair, fence': (id) => fenced(id, true),
  };
}

async function rates(
  pool: pg.Pool,
  sell: Sell,
  { workers, rows }: { workers: number; rows: number },
): Promise<Record<string, number>> {
  await pool.query('UPDATE stock SET n = 0, version = 0');
  const end = performance.now() + MEASURE_MS;
  let sold = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < end) {
        await sell(Math.floor(Math.random() * rows));
        sold++;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const { rows: sums } = await pool.query<{ sum: string }>('SELECT -sum(n) AS sum FROM stock');
  const name = rows === 1 ? 'one row' : `${rows} rows`;
  return {
    [`${name}: sold/s`]: sold / seconds,
    [`${name}: sold twice %`]: ((sold - Number(sums[0]?.sum)) / sold) * 100,
  };
}

export async function measure([{ url }]: readonly [Place]): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 64 });
  await migratePostgres(pool);
  await pool.query(fence.schema);
  await pool.query(`DROP TABLE IF EXISTS stock`);
  await pool.query(`CREATE TABLE stock (id integer PRIMARY KEY, n integer NOT NULL,
    version bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50)`);
  await pool.query('INSERT INTO stock SELECT id, 0 FROM generate_series(0, 63) AS id');
  const [here, shared] = [createLocks(memoryStore()), createLocks(postgresStore(pool))];
  const ways = waysOn(pool, here, shared);
  // Connections are made, and code is compiled, before anything counts.
  for (const sell of Object.values(ways)) await rates(pool, sell, { workers: 64, rows: 64 });

  const all = Object.entries(ways).flatMap(([name, sell]) =>
    WORKERS.map((workers) => {
      return { what: `${name}, ${workers} worker${workers === 1 ? '' : 's'}`, sell, workers };
    }),
  );
  const runs: Result[][] = [];
  for (const rows of ROWS) {
    for (let round = 0; round < ROUNDS; round++) {
      const run: Result[] = [];
      for (const [n, { what, sell, workers }] of shuffled([...all.entries()])) {
        run[n] = { what, measured: await rates(pool, sell, { workers, rows }) };
      }
      runs.push(run);
    }
  }
  for (const { what, measured } of merged(runs)) report({ what, measured });
  await here.close();
  await shared.close();
  await pool.end();
}
