/** What is in the tarball, and what it weighs. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { ROOT, StepError } from '../steps.ts';
import type { Scratch } from './scratch.ts';

const REQUIRED = [
  ...['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json'],
  ...['docs/operations/alerts.yml', 'docs/operations/grafana-dashboard.json'],
];
/** Those that messages name, and the others beside them. */
const PAGE = /^docs\/(README|(guide|reference|stores)\/[\w-]+)\.md$/;
const BUILT = /^dist\/[\w-]+\.(mjs|cjs|d\.mts|d\.cts)$/;

/** @throws StepError if a file is too much or missing, or tells of the machine that built it. */
export async function checkContents({ installed }: Scratch): Promise<void> {
  const files = await filesIn(installed);
  const wanted = (file: string): boolean => BUILT.test(file) || PAGE.test(file);
  const stray = files.filter((file) => !wanted(file) && !REQUIRED.includes(file));
  const missing = REQUIRED.filter((file) => !files.includes(file));
  const telling: string[] = [];
  for (const file of files) {
    const text = await readFile(join(installed, file), 'utf8');
    if (text.includes(ROOT) || text.includes('sourceMappingURL')) telling.push(file);
  }
  for (const [what, found] of Object.entries({ stray, missing, telling })) {
    if (found.length > 0) throw new StepError(`In the tarball, ${what}: ${found.join(', ')}.`);
  }
}

const MUTEX = `import { createLocks } from 'holdfast';
  export const go = (store, work) => createLocks(store).mutex('a').run(work);`;

/**
 * What users bundle, and its budget in bytes, minified and gzipped: one lock without its store,
 * then with one. docs/design/0082-size-and-speed.md says why it is no less.
 */
const PROGRAMS = [
  { what: 'a mutex', program: MUTEX, budget: 18_850 },
  { what: 'a mutex on SQLite', program: onStore('sqlite', 'sqliteStore'), budget: 39_150 },
  { what: 'a mutex on Redis', program: onStore('redis', 'redisStore'), budget: 45_150 },
];

/** @throws StepError if a program with one lock weighs more than its budget. */
export function checkWeight({ installed }: Scratch): void {
  const heavy = PROGRAMS.flatMap(({ what, program, budget }) => {
    const bundle = minified(program, dirname(dirname(installed)));
    const { length } = gzipSync(bundle, { level: 9 });
    return length > budget ? `${what} weighs ${length} bytes, over ${budget}` : [];
  });
  if (heavy.length > 0) throw new StepError(`${heavy.join('; ')}.`);
}

function onStore(entry: string, store: string): string {
  return `${MUTEX} import { ${store} } from 'holdfast/${entry}'; export const on = ${store};`;
}

/** One file, as a bundler for users would make it, without what Node brings. */
function minified(program: string, resolveDir: string): Uint8Array {
  const [bundle] = buildSync({
    stdin: { contents: program, resolveDir },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
  }).outputFiles;
  return bundle?.contents ?? new Uint8Array();
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
