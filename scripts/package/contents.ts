/** What is in the tarball, and what it weighs. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
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

/** In Markdown. */
export async function weigh({ installed, tarball }: Scratch): Promise<string> {
  const files = await filesIn(installed);
  const sizes = await Promise.all(files.map((file) => stat(join(installed, file))));
  const unpacked = sizes.reduce((sum, { size }) => sum + size, 0);
  const { size: packed } = await stat(tarball);
  const core = minified(join(installed, 'dist/index.mjs'));
  return [
    '| what                            | bytes |',
    '| ---                             | ---:  |',
    `| tarball                         | ${show(packed)} |`,
    `| unpacked, in ${files.length} files | ${show(unpacked)} |`,
    `| core, minified                  | ${show(core.length)} |`,
    `| core, minified and gzipped      | ${show(gzipSync(core, { level: 9 }).length)} |`,
  ].join('\n');
}

/** One file, as a bundler for users would make it, without what Node brings. */
function minified(entry: string): Uint8Array {
  const esbuild = createRequire(import.meta.url)('esbuild') as {
    buildSync(options: object): { readonly outputFiles: { readonly contents: Uint8Array }[] };
  };
  const options = { bundle: true, minify: true, format: 'esm', platform: 'node', write: false };
  const [bundle] = esbuild.buildSync({ entryPoints: [entry], ...options }).outputFiles;
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
