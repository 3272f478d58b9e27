/**
 * `npm run bench -- [figures]`: measures all figures, or those named, and puts their tables into
 * the README beside this file, or the page they are for. JSON lines go to the standard output,
 * remarks to the other one.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { putText } from '../scripts/put-text.ts';
import { ROOT } from '../scripts/steps.ts';
import { load, machine } from './machine.ts';
import { picture as waitersPicture } from './redis/picture.ts';
import type { Result } from './result.ts';
import { closeServers, type Deeds, serversFor } from './servers.ts';
import { picture as whichPicture } from './sql/picture.ts';
import { stage } from './stage.ts';
import { table } from './table.ts';

/** Of each store in a database. */
const STORE_FIGURES = [
  ...['uncontended', 'statements', 'processes', 'waiters'],
  ...['leases', 'waiting'],
];

/** Of each store on servers that agree; the last one ends servers. */
const CLUSTER_FIGURES = ['three', 'dead-holder', 'dead-leader'];

const FIGURES = [
  ...['sqlite', 'hand-off', 'local', 'leases', 'size', 'cli'],
  ...['once', 'refresh', 'telemetry', 'inventory'],
  ...['redis/uncontended', 'redis/one-process', 'redis/processes', 'redis/waiters'],
  ...['redis/dead-holder', 'redis/leases', 'redis/scripts', 'redis/cluster', 'quorum'],
  ...['postgres', 'mysql'].flatMap((one) => STORE_FIGURES.map((figure) => `${one}/${figure}`)),
  'sql/which',
  ...['etcd/uncontended', 'etcd/processes', 'etcd/waiters', 'etcd/leases'],
  ...CLUSTER_FIGURES.map((figure) => `etcd/${figure}`),
  ...['zookeeper/uncontended', 'zookeeper/hand-off', 'zookeeper/processes', 'zookeeper/waiters'],
  ...['zookeeper/shared', 'zookeeper/leases'],
  ...CLUSTER_FIGURES.map((figure) => `zookeeper/${figure}`),
  ...['fences/sqlite', 'fences/redis', 'fences/postgres'],
];

const PICTURES: Readonly<Record<string, (results: readonly Result[]) => string>> = {
  'redis/waiters': waitersPicture,
  'sql/which': whichPicture,
};

/** Where the table is, if not beside this file. */
const PAGES: Readonly<Record<string, string>> = { inventory: 'docs/guide/which-lock.md' };

const asked = process.argv.slice(2);
/** A folder stands for all figures in it. */
const among = (figure: string, name: string): boolean =>
  figure === name || figure.startsWith(`${name}/`);
const unknown = asked.filter((name) => !FIGURES.some((figure) => among(figure, name)));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(', ')}; there are ${FIGURES.join(', ')}.`);
  process.exit(1);
}

// The load of the last minute; later on it would be our own.
const conditions = `${machine()}; ${load()}`;
console.error(`${conditions}\n`);
const figures = FIGURES.filter(
  (name) => asked.length === 0 || asked.some((one) => among(name, one)),
);
const folder = stage();
for (const figure of figures) {
  console.error(`${figure} …`);
  const { env, names, deeds } = await serversFor(figure);
  const results = await measure(figure, env, deeds);
  const text = `${table(results)}\n\n${[conditions, ...names].join('; ')}.\n`;
  console.error(`\n${text}`);
  await putText(PAGES[figure] ?? 'bench/README.md', figure, text);
  const picture = PICTURES[figure]?.(results);
  const file = `docs/images/${figure.replace('/', '-')}.svg`;
  if (picture !== undefined) writeFileSync(join(ROOT, file), picture);
}
await closeServers();

/** Runs one script by itself, does what it asks for, and shows its results as they come. */
async function measure(
  figure: string,
  env: NodeJS.ProcessEnv,
  deeds: Deeds = {},
): Promise<Result[]> {
  const script = figure
    .replace(/^(postgres|mysql)\//, 'sql-stores/')
    .replace(/^(etcd|zookeeper)\/(three|dead-.*)$/, 'clusters/$2');
  const child = spawn(process.execPath, ['--expose-gc', join(folder, `${script}.js`)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  child.on('message', async (name) => {
    const done = deeds[String(name)];
    if (!done) throw new Error(`${figure} asks for ${name}, which nobody can do.`);
    child.send(await done());
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const results: Result[] = [];
  if (!child.stdout) throw new Error(`Nothing is heard of ${figure}.`);
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    results.push(JSON.parse(line) as Result);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`${figure} ended with ${code}`);
  return results;
}
