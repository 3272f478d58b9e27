/**
 * `npm run mutation -- [rooms]`: Stryker changes one small thing after another in the rooms that
 * know no server, and the tests of these rooms and the suite on memory have to notice each. Prints
 * what survived, and in the last line the share that was noticed in each room. What runs but once,
 * while a file is loaded, is left out, or survives whatever the tests say: the report calls it
 * static. It remembers what it knows of rooms, files and tests that are as they were.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchModules } from './package/tools.ts';

/** The last that run on Node 20. */
const VERSION = '9.6.1';
const VERSIONS = {
  '@stryker-mutator/core': VERSION,
  '@stryker-mutator/vitest-runner': VERSION,
};

/** Of a hundred; with fewer the run fails. */
const LEAST = 90;

const ROOMS = ['base', 'contract', 'queue', 'store-calls', 'core', 'primitives', 'jobs'];

const words = process.argv.slice(2);
const rooms = words.length > 0 ? words : ROOMS;
// Vitest is the project's own.
const folder = await fetchModules('mutation', VERSIONS, '--legacy-peer-deps');
const modules = join(folder, 'node_modules/@stryker-mutator');
const config = join(folder, 'stryker.json');
const report = join(folder, 'report.json');
rmSync(report, { force: true });
writeFileSync(
  config,
  JSON.stringify({
    ...{ testRunner: 'vitest', coverageAnalysis: 'perTest', ignoreStatic: true },
    plugins: [join(modules, 'vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'test/methods/mutation/vitest.config.ts', related: false },
    mutate: rooms.map((room) => `src/${room}/**/*.ts`),
    ...{ incremental: true, incrementalFile: join(folder, 'incremental.json') },
    ...{ thresholds: { break: LEAST }, jsonReporter: { fileName: report } },
    reporters: ['clear-text', 'json', process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    clearTextReporter: { reportTests: false, logTests: false },
    // Outside of node_modules, where no tsconfig leads to the sources.
    ...{ tempDirName: join(tmpdir(), `holdfast-mutants-${process.pid}`), cleanTempDir: 'always' },
    ignorePatterns: ['dist', 'docs', 'bench', 'examples'],
  }),
);
const command = [join(modules, 'core/bin/stryker.js'), 'run', config];
process.exitCode = spawnSync(process.execPath, command, { stdio: 'inherit' }).status ?? 1;

interface Report {
  readonly files: Record<string, { readonly mutants: readonly { readonly status: string }[] }>;
}

const { files }: Report = JSON.parse(readFileSync(report, 'utf8'));

/** How many mutants of these rooms a test has noticed. */
function told(of: readonly string[]): string {
  const all = Object.entries(files)
    .filter(([file]) => of.some((room) => file.startsWith(`src/${room}/`)))
    .flatMap(([, { mutants }]) => mutants.map(({ status }) => status));
  const noticed = all.filter((status) => status === 'Killed' || status === 'Timeout').length;
  const missed = all.filter((status) => status === 'Survived' || status === 'NoCoverage').length;
  const judged = noticed + missed;
  return `${noticed} of ${judged} (${((100 * noticed) / judged).toFixed(1)} %)`;
}

const each = rooms.map((room) => `${room} ${told([room])}`);
console.log(`mutants that a test notices: ${told(rooms)}; ${each.join(', ')}`);
