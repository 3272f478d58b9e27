/**
 * Which kind of lock: workers sell from stock in PostgreSQL. Each reads a row, works for a
 * millisecond, and writes the row, by each way in turn: all want one row, or any of 64.
 */
import { createLocks } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import { optimistic, rowLock, transactionLock } from 'holdfast/sql';
import pg from 'pg';
import { sleep } from '../processes.ts';
import { median, report, shuffled } from '../result.ts';

const WORKERS = [1, 8, 64];
const ROWS = [1, 64];
const MEASURE_MS = 600;
const ROUNDS = 3;
const WORK_MS = 1;

const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, max: 64 });

interface Stock {
  readonly n: number;
}

/** Sells one; answers how many tries that took. */
type Sell = (id: number) => Promise<number>;

async function transaction(work: (tx: pg.PoolClient) => Promise<void>): Promise<void> {
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
const here = createLocks(memoryStore());
const shared = createLocks(postgresStore(pool));

const ways: Readonly<Record<string, Sell>> = {
  'no lock': async (id) => {
    await readAndWrite(pool, id);
    return 1;
  },
  'row lock': async (id) => {
    await transaction(async (tx) => {
      const options = { table: 'stock', key: { id }, insert: false } as const;
      const { n } = await rowLock<Stock>(tx, options);
      await sleep(WORK_MS);
      await tx.query('UPDATE stock SET n = $2 WHERE id = $1', [id, n - 1]);
    });
    return 1;
  },
  'advisory lock': async (id) => {
    await transaction(async (tx) => {
      await transactionLock(tx, `stock:${id}`);
      await readAndWrite(tx, id);
    });
    return 1;
  },
  'version column': async (id) => {
    const options = { table: 'stock', key: { id }, version: 'version', attempts: 1_000 };
    const { attempts } = await optimistic<Stock>(pool, options, async ({ n }) => {
      await sleep(WORK_MS);
      return { n: n - 1 };
    });
    return attempts;
  },
  'holdfast, memory': async (id) => {
    await here.mutex(`stock:${id}`).run(() => readAndWrite(pool, id));
    return 1;
  },
  'holdfast, PostgreSQL, fence': async (id) => {
    await shared.mutex(`stock:${id}`).run((lease) =>
      transaction(async (tx) => {
        await fence.enter(tx, lease);
        await readAndWrite(tx, id);
      }),
    );
    return 1;
  },
  'holdfast, PostgreSQL, fair, fence': async (id) => {
    await shared.mutex(`stock:${id}`, { fair: true }).run((lease) =>
      transaction(async (tx) => {
        await fence.enter(tx, lease);
        await readAndWrite(tx, id);
      }),
    );
    return 1;
  },
};

async function measure(sell: Sell, workers: number, rows: number) {
  await pool.query('UPDATE stock SET n = 0, version = 0');
  const end = performance.now() + MEASURE_MS;
  let [sold, tries] = [0, 0];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < end) {
        const attempts = await sell(Math.floor(Math.random() * rows));
        tries += attempts;
        sold++;
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const { rows: sums } = await pool.query<{ sum: string }>('SELECT -sum(n) AS sum FROM stock');
  const name = rows === 1 ? 'one row' : `${rows} rows`;
  return {
    [`${name}: sold/s`]: sold / seconds,
    [`${name}: tries a sale`]: tries / sold,
    [`${name}: sold twice %`]: ((sold - Number(sums[0]?.sum)) / sold) * 100,
  };
}

await migratePostgres(pool);
await pool.query(fence.schema);
await pool.query(`DROP TABLE IF EXISTS stock`);
await pool.query(`CREATE TABLE stock (id integer PRIMARY KEY, n integer NOT NULL,
  version bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50)`);
await pool.query('INSERT INTO stock SELECT id, 0 FROM generate_series(0, 63) AS id');
// Connections are made, and code is compiled, before anything counts.
for (const sell of Object.values(ways)) await measure(sell, 64, 64);

/** Each column's value in every round, by the row of the table. */
const measured = new Map<string, Map<string, number[]>>();
for (const workers of WORKERS) {
  for (const rows of ROWS) {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, sell] of shuffled(Object.entries(ways))) {
        const what = `${name}, ${workers} worker${workers === 1 ? '' : 's'}`;
        const columns = measured.get(what) ?? new Map<string, number[]>();
        for (const [column, value] of Object.entries(await measure(sell, workers, rows))) {
          columns.set(column, [...(columns.get(column) ?? []), value]);
        }
        measured.set(what, columns);
      }
    }
  }
}
for (const name of Object.keys(ways)) {
  for (const [what, columns] of measured) {
    if (what.replace(/, \d+ workers?$/, '') !== name) continue;
    const medians = [...columns].map(([column, values]) => [column, median(values)]);
    report({ figure: 'sql/which', what, measured: Object.fromEntries(medians) });
  }
}
await here.close();
await shared.close();
await pool.end();
