/**
 * The example of the shop: how many items four sellers sell a second in each of the five ways,
 * with the stock and the locks in a SQLite file, and in PostgreSQL.
 */
import { execFileSync } from 'node:child_process';
import { migratePostgres } from 'holdfast/postgres';
import pg from 'pg';
import { median, report } from './result.ts';

const ROUNDS = 5;

interface Sales {
  readonly way: string;
  readonly perSecond: number;
}

const url = process.env.BENCH_DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
await migratePostgres(pool);
await pool.end();
const stores = Object.entries({ SQLite: [], PostgreSQL: ['--store', url] });
const rounds = Array.from({ length: ROUNDS }, () =>
  stores.map(([store, args]) => ({ store, sales: sell(args) })),
).flat();
for (const { way } of rounds[0]?.sales ?? []) {
  const measured = stores.map(([store]): [string, number] => {
    const own = rounds.filter((round) => round.store === store).flatMap(({ sales }) => sales);
    const rates = own.filter((each) => each.way === way).map(({ perSecond }) => perSecond);
    return [`${store}: sales/s`, median(rates)];
  });
  report({ figure: 'inventory', what: way, measured: Object.fromEntries(measured) });
}

/** As users run it, in the folder of the project. */
function sell(args: readonly string[]): Sales[] {
  const command = ['--disable-warning=ExperimentalWarning', '--import', './scripts/sources.mjs'];
  const example = ['examples/run.ts', 'inventory', '--json', ...args];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const text = execFileSync(process.execPath, [...command, ...example], { encoding: 'utf8', env });
  return JSON.parse(text) as Sales[];
}
