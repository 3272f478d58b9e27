/**
 * The example of the shop: how many items four sellers sell a second in each of the five ways, with
 * the stock and the locks in the same store.
 */
import { execFileSync } from 'node:child_process';
import { migratePostgres } from 'holdfast/postgres';
import pg from 'pg';
import { median, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { schemeOf, subjectAt } from '../stores/index.ts';

const ROUNDS = 5;

interface Sales {
  readonly way: string;
  readonly perSecond: number;
}

export async function measure(places: readonly Place[]): Promise<void> {
  const stores: { name: string; args: string[]; sales: Sales[] }[] = [];
  for (const { url } of places) {
    const { name } = await subjectAt(url);
    // It makes a file of its own.
    const args = schemeOf(url) === 'sqlite' ? [] : ['--store', url];
    if (args.length > 0) await migrate(url);
    stores.push({ name, args, sales: [] });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { args, sales } of stores) sales.push(...sell(args));
  }
  for (const way of new Set(stores.flatMap(({ sales }) => sales.map((each) => each.way)))) {
    const measured = stores.map(({ name, sales }): [string, number] => {
      const rates = sales.filter((each) => each.way === way).map(({ perSecond }) => perSecond);
      return [`${name}: sales/s`, median(rates)];
    });
    report({ what: way, measured: Object.fromEntries(measured) });
  }
}

async function migrate(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url });
  await migratePostgres(pool);
  await pool.end();
}

/** As users run it, in the folder of the project. */
function sell(args: readonly string[]): Sales[] {
  const command = ['--disable-warning=ExperimentalWarning', '--import', './scripts/sources.mjs'];
  const example = ['examples/run.ts', 'inventory', '--json', ...args];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const text = execFileSync(process.execPath, [...command, ...example], { encoding: 'utf8', env });
  return JSON.parse(text) as Sales[];
}
