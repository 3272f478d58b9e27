/**
 * The example of the shop: how many items four sellers sell a second in each of the five ways, with
 * the stock and the locks in the same store.
 */
import { execFileSync } from 'node:child_process';
import { migratePostgres } from 'holdfast/postgres';
import pg from 'pg';
import { type Result, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { merged } from '../measuring/table.ts';
import { schemeOf, subjectAt } from '../stores/index.ts';

const ROUNDS = 5;

export async function measure(places: readonly Place[]): Promise<void> {
  const runs: Result[][] = [];
  for (const { url } of places) {
    const { name } = await subjectAt(url);
    // It makes a file of its own.
    const args = schemeOf(url) === 'sqlite' ? [] : ['--store', url];
    if (args.length > 0) await migratePostgres(new pg.Client(url));
    for (let round = 0; round < ROUNDS; round++) runs.push(sell(`${name}: sales/s`, args));
  }
  for (const { what, measured } of merged(runs)) report({ what, measured });
}

/** As users run it, in the folder of the project; a row for each way. */
function sell(column: string, args: readonly string[]): Result[] {
  const command = ['--disable-warning=ExperimentalWarning', '--import', './scripts/sources.mjs'];
  const example = ['examples/run.ts', 'inventory', '--json', ...args];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const text = execFileSync(process.execPath, [...command, ...example], { encoding: 'utf8', env });
  const sales = JSON.parse(text) as { readonly way: string; readonly perSecond: number }[];
  return sales.map(({ way, perSecond }) => ({ what: way, measured: { [column]: perSecond } }));
}
