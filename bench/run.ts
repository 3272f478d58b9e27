/**
 * `npm run bench -- [figures]`: measures all figures, or those named, and puts their tables into
 * the README beside this file. JSON lines go to the standard output, remarks to the other one.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { putText } from '../scripts/put-text.ts';
import { load, machine } from './machine.ts';
import type { Result } from './result.ts';
import { stage } from './stage.ts';
import { table } from './table.ts';

const FIGURES = ['sqlite', 'hand-off', 'local', 'leases', 'size', 'cli'];

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
  await putText('bench/README.md', figure, text);
}

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
