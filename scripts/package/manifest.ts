import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../steps.ts';

export async function manifest(): Promise<{ readonly version: string }> {
  return JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
}

/**
 * The fields that the page of the package needs and lacks: relative links of the README lead to the
 * repository, and nowhere if the manifest does not name it.
 */
export function missingOnPage(fields: object): string[] {
  return ['repository', 'homepage', 'bugs'].filter((name) => !(name in fields));
}
