/**
 * `npm run mutation -- [rooms]`: Stryker changes one small thing after another in the rooms that
 * know no server, and the tests of these rooms and the suite on memory have to notice each. Prints
 * what survived, and the share that was noticed. It remembers what it knows of files that are as
 * they were.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchModules } from './package/tools.ts';
import { run } from './steps.ts';

/** The last that run on Node 20. */
const VERSION = '9.6.1';
const VERSIONS = {
  '@stryker-mutator/core': VERSION,
  '@stryker-mutator/vitest-runner': VERSION,
};

const ROOMS = ['base', 'contract', 'queue', 'store-calls', 'core', 'primitives', 'jobs'];

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number } };
}

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>;
}

const words = process.argv.slice(2);
const rooms = words.length > 0 ? words : ROOMS;
// Vitest is the project's own.
const folder = await fetchModules('mutation', VERSIONS, '--legacy-peer-deps');
const modules = join(folder, 'node_modules/@stryker-mutator');
const report = join(folder, 'report.json');
const config = join(folder, 'stryker.json');
writeFileSync(
  config,
  JSON.stringify({
    ...{ testRunner: 'vitest', coverageAnalysis: 'perTest' },
    plugins: [join(modules, 'vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'test/methods/mutation/vitest.config.ts', related: false },
    mutate: rooms.map((room) => `src/${room}/**/*.ts`),
    ...{ incremental: true, incrementalFile: join(folder, 'incremental.json') },
    ...{ reporters: ['json'], jsonReporter: { fileName: report } },
    // Outside of node_modules, where no tsconfig leads to the sources.
    ...{ tempDirName: join(tmpdir(), `holdfast-mutants-${process.pid}`), cleanTempDir: 'always' },
    ignorePatterns: ['dist', 'docs', 'bench', 'examples'],
  }),
);
await run(['node', join(modules, 'core/bin/stryker.js'), 'run', config]);

const { files }: Report = JSON.parse(readFileSync(report, 'utf8'));
const all: { readonly room: string; readonly noticed: boolean }[] = [];
for (const [file, { mutants }] of Object.entries(files)) {
  const [, room = ''] = file.split('/');
  for (const { status, mutatorName, replacement = '', location } of mutants) {
    if (status === 'Ignored' || status === 'CompileError') continue;
    const noticed = status === 'Killed' || status === 'Timeout';
    all.push({ room, noticed });
    const what = `${mutatorName} ${replacement.slice(0, 80)}`;
    if (!noticed) console.log(`${file}:${location.start.line} ${what}`);
  }
}
const noticed = (of: typeof all): number => of.filter((mutant) => mutant.noticed).length;
const share = (of: typeof all): string => `${((100 * noticed(of)) / of.length).toFixed(1)} %`;
const each = [...new Set(all.map(({ room }) => room))]
  .map((name) => `${name} ${share(all.filter(({ room }) => room === name))}`)
  .join(', ');
console.log(`${noticed(all)} passed, 0 failed`);
console.log(`${share(all)} of ${all.length} mutants noticed: ${each}`);
