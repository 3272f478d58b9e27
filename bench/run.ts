/**
 * `npm run bench -- [figures] [--store URL] [--runs N]`: measures all figures, or those named, on
 * their stores or those named. JSON lines go to the standard output, tables to the other one. On a
 * quiet machine they are published: put into the README beside this file, or the page they are for.
 * With several runs, each waits for a quiet machine and has servers of its own, and the table has
 * their medians.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { putText } from '../scripts/put-text.ts';
import { ROOT } from '../scripts/steps.ts';
import { FIGURES, type Figure } from './figures.ts';
import { busyCores, calm, conditions, isQuiet, machine } from './machine.ts';
import type { Result } from './measuring/result.ts';
import { merged, table } from './measuring/table.ts';
import { closeServers, type Server, serversOf } from './servers.ts';
import { stage } from './stage.ts';
import { schemeOf } from './stores/index.ts';

const options = {
  store: { type: 'string', multiple: true },
  runs: { type: 'string', default: '1' },
} as const;
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const asked = positionals.length > 0 ? positionals : Object.keys(FIGURES);

/** Other names of the same, which only some clients understand. */
const ALIASES: Readonly<Record<string, string>> = { postgresql: 'postgres', mariadb: 'mysql' };

/** By their schemes; with nothing behind the colon, a server is started. */
const stores = new Map(
  values.store?.map((url): [string, string] => {
    const given = schemeOf(url);
    const scheme = ALIASES[given] ?? given;
    return [scheme, scheme + url.slice(given.length)];
  }),
);

const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) fail('--runs takes a whole number, of 1 or more.');

const jobs = asked.flatMap(jobsOf);
if (jobs.length === 0) fail(`No figure is of ${[...stores.keys()].join(', ')}.`);
console.error(`${machine()}\n`);
const folder = stage();
for (const job of jobs) await run(job);
await closeServers();

/** One run of a script, which gives one table. */
interface Job {
  readonly name: string;
  readonly figure: Figure;
  readonly stores: readonly string[];
}

function jobsOf(name: string): Job[] {
  const figure = FIGURES[name];
  if (!figure) fail(`There is no figure ${name}; there are ${Object.keys(FIGURES).join(', ')}.`);
  const all = figure.stores;
  const own = stores.size > 0 ? all.filter((store) => stores.has(store)) : all;
  if (positionals.length > 0 && own.length === 0) fail(`${name} is of ${all.join(', ')}.`);
  if (own.length === 0) return [];
  if (figure.together) return [{ name, figure, stores: own }];
  return own.map((store) => ({ name, figure, stores: [store] }));
}

async function run({ name, figure, stores: own }: Job): Promise<void> {
  const title = figure.together ? name : `${own[0]}/${name}`;
  console.error(`${title} …`);
  const each: Run[] = [];
  for (let n = 0; n < runs; n++) each.push(await measured(title, { name, figure, stores: own }));
  const results = merged(each.map((one) => one.results));
  const before = each.map(({ busy }) => busy);
  const labels = each[0]?.labels ?? [];
  const where = `${[machine(), conditions(before), ...labels].join('; ')}.`;
  const text = `${table(results)}\n\n${where}\n`;
  console.error(`\n${text}`);
  const why = unpublished(figure, own, before.every(isQuiet));
  if (why !== undefined) {
    console.error(`Not published: ${why}\n`);
    return;
  }
  const { page = 'bench/README.md', picture } = figure;
  await putText(page, title, text);
  if (!picture || !own.includes(picture.store)) return;
  writeFileSync(join(ROOT, `docs/images/${picture.file}.svg`), picture.draw(results, where));
}

/** What was measured at once, and how many cores were busy before. */
interface Run {
  readonly busy: number;
  readonly labels: readonly string[];
  readonly results: readonly Result[];
}

/** One of several runs has servers of its own, that no other has left anything on. */
async function measured(title: string, { name, figure, stores: own }: Job): Promise<Run> {
  const busy = runs > 1 ? await calm() : await busyCores();
  const places = (await Promise.all(own.map((store) => serversFor(store, figure)))).flat();
  const mark = { figure: title, ...(!isQuiet(busy) && { noisy: true }) };
  const results = await measure(`${figure.room}/${name}`, places, mark);
  if (runs > 1) await closeServers();
  return { busy, labels: [...new Set(places.flatMap(({ label }) => label ?? []))], results };
}

/** Why a table stays where it is. */
function unpublished(figure: Figure, own: readonly string[], quiet: boolean): string | undefined {
  if (!quiet && !figure.counts) {
    return 'the machine was not quiet at the start. Measure again when it is.';
  }
  if (own.some(given)) return 'only figures of servers that were started for them are.';
  const whole = !figure.together || own.length === figure.stores.length;
  return whole ? undefined : 'no page has this table.';
}

/** The address of a server that runs, if the user has given one. */
function given(store: string): string | undefined {
  const url = stores.get(store);
  return url?.endsWith(':') ? undefined : url;
}

async function serversFor(store: string, { servers }: Figure): Promise<readonly Server[]> {
  const url = given(store);
  if (url === undefined) return serversOf(store, servers);
  if (servers) fail('This figure needs more than one server, and starts them: give no address.');
  return [{ url, pids: [] }];
}

/** Runs the script by itself, and shows its results as they come, with what they are of. */
async function measure(script: string, places: readonly Server[], mark: object): Promise<Result[]> {
  const module = pathToFileURL(join(folder, `${script}.js`)).href;
  const args = ['--expose-gc', join(folder, 'call.js'), module, 'measure', JSON.stringify(places)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const results: Result[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const result = JSON.parse(line) as Result;
    console.log(JSON.stringify({ ...mark, ...result }));
    results.push(result);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return results;
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
