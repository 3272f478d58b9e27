/** What is in the tarball, and what it weighs. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT, StepError } from '../steps.ts';
import type { Scratch } from './scratch.ts';

const REQUIRED = ['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json'];
const BUILT = /^dist\/[\w-]+\.(mjs|cjs|d\.mts|d\.cts)$/;

/** @throws StepError if a file is too much or missing, or tells of the machine that built it. */
export async function checkContents({ installed }: Scratch): Promise<void> {
  const files = await filesIn(installed);
  const stray = files.filter((file) => !BUILT.test(file) && !REQUIRED.includes(file));
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

/** What users bundle: one lock, without its store, then with one. */
const MUTEX = `import { createLocks } from 'holdfast';
  export const go = (store, work) => createLocks(store).mutex('a').run(work);`;
const PROGRAMS = {
  'a mutex': MUTEX,
  'a mutex on SQLite': onStore('sqlite', 'sqliteStore'),
  'a mutex on Redis': onStore('redis', 'redisStore'),
};

/** Of a mutex, minified and gzipped, in bytes; docs/design/0082-size.md says why it is no less. */
const BUDGET = 15_000;

/**
 * In Markdown.
 * @throws StepError if a program with one lock weighs more than its budget.
 */
export async function weigh({ installed, tarball }: Scratch): Promise<string> {
  const files = await filesIn(installed);
  const sizes = await Promise.all(files.map((file) => stat(join(installed, file))));
  const unpacked = sizes.reduce((sum, { size }) => sum + size, 0);
  const { size: packed } = await stat(tarball);
  const programs = Object.entries(PROGRAMS).map(([what, program]) => {
    const bundle = minified(program, dirname(dirname(installed)));
    return { what, gzipped: gzipSync(bundle, { level: 9 }).length };
  });
  const [mutex] = programs;
  if (mutex && mutex.gzipped > BUDGET) {
    throw new StepError(`A mutex weighs ${mutex.gzipped} bytes, more than its budget, ${BUDGET}.`);
  }
  return [
    '| what | bytes |',
    '| ---  | ---:  |',
    `| tarball | ${show(packed)} |`,
    `| unpacked, in ${files.length} files | ${show(unpacked)} |`,
    ...programs.map(({ what, gzipped }) => `| ${what}, minified and gzipped | ${show(gzipped)} |`),
  ].join('\n');
}

function onStore(entry: string, store: string): string {
  return `${MUTEX} import { ${store} } from 'holdfast/${entry}'; export const on = ${store};`;
}

/** One file, as a bundler for users would make it, without what Node brings. */
function minified(program: string, resolveDir: string): Uint8Array {
  const esbuild = createRequire(import.meta.url)('esbuild') as {
    buildSync(options: object): { readonly outputFiles: { readonly contents: Uint8Array }[] };
  };
  const [bundle] = esbuild.buildSync({
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

function show(bytes: number): string {
  return bytes.toLocaleString('en');
}
