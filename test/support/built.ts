/**
 * Builds the package as users get it, once for a run of tests, and beside it the programs that the
 * tests start: a process begins in a quarter of the time that it takes from the sources.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf } from './program-of.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHILDREN = [...['test/cli', 'test/methods/processes'], 'test/stores/sqlite'];

let folder: string | undefined;

/** Whoever plants a fault wants it in the processes of the tests, too, which run the sources. */
export async function setup(): Promise<void> {
  const { HOLDFAST_BUILT, HOLDFAST_FROM_SOURCES } = process.env;
  if (HOLDFAST_BUILT !== undefined || HOLDFAST_FROM_SOURCES === '1') return;
  // A copy of the project in which faults are planted has no bundler.
  const [{ build }, { default: config }] = await Promise.all([
    import('tsdown'),
    import('../../tsdown.config.ts'),
  ]);
  folder = mkdtempSync(join(tmpdir(), 'holdfast-built-'));
  const home = join(folder, 'node_modules/holdfast');
  mkdirSync(home, { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(home, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  const outDir = join(home, 'dist');
  const programs = ['src/cli/main.ts', ...children()];
  const entry = Object.fromEntries(programs.map((source) => [entryOf(source), source]));
  await build({
    ...config,
    ...{ config: false, cwd: ROOT, outDir, dts: false, logLevel: 'warn' },
    format: { esm: { entry: { ...(config.entry as object), ...entry } }, cjs: {} },
    deps: { skipNodeModulesBundle: true },
  });
  process.env.HOLDFAST_BUILT = outDir;
}

export function teardown(): void {
  if (folder === undefined) return;
  delete process.env.HOLDFAST_BUILT;
  rmSync(folder, { recursive: true, force: true });
}

function children(): string[] {
  return CHILDREN.flatMap((room) =>
    readdirSync(join(ROOT, room, 'children')).map((name) => `${room}/children/${name}`),
  );
}
