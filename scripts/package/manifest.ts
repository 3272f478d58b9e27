import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../steps.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

export async function manifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
}

/** The names under which the package's code is imported. */
export async function entries(): Promise<string[]> {
  const { name, exports } = await manifest();
  const paths = Object.keys(exports).filter((path) => !path.endsWith('.json'));
  return paths.map((path) => name + path.slice(1));
}

/**
 * The fields that the page of the package needs and lacks: relative links of the README lead to the
 * repository, and nowhere if the manifest does not name it.
 */
export function missingOnPage(fields: object): string[] {
  return ['repository', 'homepage', 'bugs'].filter((name) => !(name in fields));
}
