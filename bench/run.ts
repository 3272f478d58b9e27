/**
 * `npm run bench -- [figures]`: measures all figures, or those named, and puts their tables into
 * the README beside this file. JSON lines go to the standard output, remarks to the other one.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run } from '../scripts/steps.ts';
import { load, machine } from './machine.ts';
import type { Result } from './result.ts';
import { stage } from './stage.ts';
import { table } from './table.ts';

const FIGURES = ['sqlite', 'hand-off', 'local', 'leases', 'size'];
const README = new URL('README.md', import.meta.url);

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !FIGURES.includes(name));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(', ')}; there are ${FIGURES.join(', ')}.`);
  process.exit(1);
}

// The load of the last minute; later on it would be our own.
const conditions = `${machine()}; ${load()}`;
console.error(`${conditions}\n`);
const folder = stage();
for (const figure of FIGURES.filter((name) => asked.length === 0 || asked.includes(name))) {
  console.error(`${figure} …`);
  const text = `${table(await measure(figure))}\n\n${conditions}.\n`;
  console.error(`\n${text}`);
  record(figure, text);
}
// The project's formatter aligns the columns of tables.
await run(['biome', 'format', '--write', 'bench/README.md']);

/** Runs one script by itself, and shows its results as they come. */
async function measure(figure: string): Promise<Result[]> {
  const child = spawn(process.execPath, ['--expose-gc', join(folder, `${figure}.js`)], {
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

function record(figure: string, text: string): void {
  const readme = readFileSync(README, 'utf8');
  const [begin, end] = [`<!-- ${figure} -->\n`, `<!-- /${figure} -->`];
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md has no place for ${figure}.`);
  writeFileSync(README, `${readme.slice(0, from + begin.length)}${text}${readme.slice(to)}`);
}
