/**
 * The package, and the code of docs/guide/workers.md, in workerd, which runs Cloudflare's Workers:
 * bundled as tools for Workers do it, and started by Miniflare with its D1 and Durable Objects.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { snippetsIn } from '../../test/methods/tidy/snippets.ts';
import { readTree } from '../../test/methods/tidy/tree.ts';
import { HANG_MS } from '../../test/support/this-run.ts';
import { run, StepError } from '../steps.ts';
import type { Scratch } from './scratch.ts';
import type { Cell } from './styles.ts';
import { type Tools, thisNode } from './tools.ts';

const PAGE = 'docs/guide/workers.md';
const BUNDLE = 'worker.mjs';

/** The flags by the date: the oldest that the page promises, with numbers for timers, and newer. */
const DATES: Readonly<Record<string, readonly string[]>> = {
  '2026-03-17': ['nodejs_compat', 'no_nodejs_global_timers'],
  '2026-07-01': ['nodejs_compat'],
};

export async function workerCells(scratch: Scratch, tools: Tools): Promise<Cell[]> {
  const folder = join(scratch.folder, 'workers');
  await writePage(join(folder, 'page'));
  await build({
    ...{ entryPoints: [join(folder, 'worker.mjs')], outfile: join(scratch.alone, BUNDLE) },
    ...{ bundle: true, format: 'esm', platform: 'browser', target: 'es2022' },
    ...{ external: ['node:*', 'cloudflare:*'], conditions: ['workerd', 'worker', 'browser'] },
  });
  // The oldest is too old for Miniflare.
  const node = tools.runtimes.findLast(({ kind }) => kind === 'node') ?? thisNode();
  return Object.entries(DATES).map(([date, flags]) => ({
    name: `Worker, bundled, workerd of ${date}`,
    async run() {
      const command = [...node.run, join(folder, 'run.mjs'), BUNDLE, tools.modules, date, ...flags];
      const output = await run(command, { cwd: scratch.alone, timeoutMs: HANG_MS });
      if (!output.includes('passed in workerd')) throw new StepError(output);
    },
  }));
}

/** Each block of the page as the file that its first line names. */
async function writePage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { page, code } of snippetsIn(readTree())) {
    const [, name] = /^\/\/ (\S+\.ts)\n/.exec(code) ?? [];
    if (page === PAGE && name) await writeFile(join(folder, name), code);
  }
}
