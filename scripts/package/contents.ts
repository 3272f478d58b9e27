/** What is in the tarball. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
