/**
 * `npm run bench -- [figures]`: measures all figures, or those named, and puts their tables into
 * the README beside this file. JSON lines go to the standard output, remarks to the other one.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { putText } from '../scripts/put-text.ts';
import { ROOT } from '../scripts/steps.ts';
import { startCluster } from '../test/servers/cluster.ts';
import { closeAll, type RedisServer } from '../test/servers/redis-server.ts';
import { startFive, startSingle } from '../test/servers/topologies.ts';
import { load, machine } from './machine.ts';
import { picture } from './redis/picture.ts';
import type { Result } from './result.ts';
import { stage } from './stage.ts';
import { table } from './table.ts';

const FIGURES = [
  ...['sqlite', 'hand-off', 'local', 'leases', 'size', 'cli'],
  ...['redis/uncontended', 'redis/one-process', 'redis/processes', 'redis/waiters'],
  ...['redis/dead-holder', 'redis/leases', 'redis/scripts', 'redis/cluster', 'quorum'],
];

const PICTURE = 'docs/images/redis-waiters.svg';

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
const redis = figures.some((name) => among(name, 'redis')) ? await startSingle() : undefined;
const folder = stage();
for (const figure of figures) {
  console.error(`${figure} …`);
  // Or every process that uses it would be warned.
  const config = ['min-replicas-to-write 1'];
  const cluster = figure === 'redis/cluster' ? await startCluster({ config }) : undefined;
  const five = figure === 'quorum' ? await startFive() : [];
  const results = await measure(figure, {
    ...(five.length > 0 && { BENCH_QUORUM: five.map(({ url }) => url).join() }),
    ...(redis && { BENCH_REDIS_URL: redis.url }),
    ...(cluster && { BENCH_REDIS_CLUSTER: cluster.nodes.map(({ url }) => url).join() }),
  });
  await cluster?.close();
  await closeAll(five);
  const server = redis && among(figure, 'redis') ? `; Redis ${await versionOf(redis)}` : '';
  const text = `${table(results)}\n\n${conditions}${server}.\n`;
  console.error(`\n${text}`);
  await putText('bench/README.md', figure, text);
  if (figure === 'redis/waiters') writeFileSync(join(ROOT, PICTURE), picture(results));
}
await redis?.close();

/** Runs one script by itself, and shows its results as they come. */
async function measure(figure: string, env: Record<string, string>): Promise<Result[]> {
  const child = spawn(process.execPath, ['--expose-gc', join(folder, `${figure}.js`)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const results: Result[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    results.push(JSON.parse(line) as Result);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`${figure} ended with ${code}`);
  return results;
}

async function versionOf(server: RedisServer): Promise<string> {
  const info = String(await server.command('INFO', 'server'));
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'of unknown version';
}
