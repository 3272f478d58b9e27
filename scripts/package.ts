/**
 * Proves what users install: the tarball is built, linted, installed in an empty folder, and used
 * there. With `--whole`, also in each way in which TypeScript finds the types of a package, and in
 * every style on every runtime, which are fetched, and in Workers. What comes later builds on what
 * was before.
 */
import { parseArgs } from 'node:util';
import { MODULES } from '../tsdown.config.ts';
import { checkContents, checkWeight } from './package/contents.ts';
import { manifest } from './package/manifest.ts';
import { Scratch } from './package/scratch.ts';
import { type Cell, styleCells, typeCells } from './package/styles.ts';
import { fetchTools, type Tools, thisNode } from './package/tools.ts';
import { workerCells } from './package/workers.ts';
import { type Skip, StepError } from './steps.ts';

const { values } = parseArgs({ options: { whole: { type: 'boolean', default: false } } });
const scratch = new Scratch();
let passed = 0;
const failed: string[] = [];
const skipped: Skip[] = [];

try {
  // Meanwhile, because the network is not the processor.
  const fetching = values.whole ? fetchTools().catch(reasonOf) : undefined;
  await checkTarball();
  if (fetching) await checkEverywhere(await fetching);
  else await checkHere();
} catch (error) {
  console.log(error instanceof StepError ? error.message : error);
  failed.push('what comes after that');
}
for (const { test, reason } of skipped) console.log(`skipped: ${test}: ${reason}`);
console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length === 0 ? 0 : 1);

async function checkTarball(): Promise<void> {
  await check('build', () => scratch.pack());
  await check('publint', () => scratch.run('publint', 'run', scratch.tarball, '--strict'));
  await check('install', () => scratch.install());
  await check('contents', () => checkContents(scratch));
  await check('weight', async () => checkWeight(scratch));
  await check('import and require', async () => {
    await scratch.run('node', 'load.mjs', ...MODULES.keys());
  });
  await check('command', checkCommand);
}

/** By one program, on this Node. */
async function checkHere(): Promise<void> {
  await check('program', async () => {
    await scratch.compile(['--module', 'node16', '--noCheck', 'program.mts']);
    await styleCells(scratch, undefined)[0]?.run();
  });
}

async function checkEverywhere(tools: Tools | string): Promise<void> {
  const fetched = typeof tools === 'string' ? undefined : tools;
  if (typeof tools === 'string') skipped.push({ test: 'other runtimes', reason: tools });
  await check('types resolve', () =>
    scratch.run('attw', scratch.tarball, '--no-definitely-typed', '--no-color'),
  );
  await checkAll(typeCells(scratch, fetched));
  await check('demo', () => checkDemo(fetched));
  await check('bundles', () => scratch.bundle());
  if (fetched) await scratch.configureJest(fetched);
  await checkAll(styleCells(scratch, fetched));
  if (fetched) await checkAll(await workerCells(scratch, fetched));
}

async function check(what: string, act: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await act();
  passed += 1;
  console.log(`✓ ${what.padEnd(20)} ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/** Tries each, as many at once as the smallest machines have processors. */
async function checkAll(cells: readonly Cell[]): Promise<void> {
  for (const { name, gap } of cells) {
    if (gap) skipped.push({ test: name, reason: `not promised: ${gap}` });
  }
  const left = cells.filter(({ gap }) => gap === undefined);
  const worker = async (): Promise<void> => {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      try {
        await cell.run();
        passed += 1;
        console.log(`✓ ${cell.name}${cell.note ? ` (${cell.note})` : ''}`);
      } catch (error) {
        failed.push(cell.name);
        console.log(`✗ ${cell.name}:`, error instanceof StepError ? error.message : error);
      }
    }
  };
  await Promise.all([worker(), worker()]);
}

/** The command that the package installs. */
async function checkCommand(): Promise<void> {
  const output = await scratch.run('npx', '--no-install', 'holdfast', '--version');
  const { version } = await manifest();
  // npm may have something to say before.
  if (output.trim().split('\n').at(-1) === version) return;
  throw new StepError(`holdfast --version says ${output}`);
}

/** On the oldest Node, which has no SQLite. */
async function checkDemo(tools: Tools | undefined): Promise<void> {
  const oldest = tools?.runtimes.find(({ kind }) => kind === 'node') ?? thisNode();
  const output = await scratch.runAlone(oldest.run, 'demo');
  if (!output.includes('The fence refuses')) throw new StepError(output);
}

function reasonOf(error: unknown): string {
  return error instanceof StepError ? error.message : String(error);
}
