import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = pathToFileURL(join(ROOT, 'scripts/sources.mjs')).href;

/** The folder with the package as `test/support/built.ts` has built it, if it has. */
const { HOLDFAST_BUILT: BUILT } = process.env;

export interface Program {
  readonly file: string;
  /** What Node needs to run it. */
  readonly execArgv: string[];
}

/** A program of the project or of its tests, named from the root: as it was built, if it was. */
export function programOf(source: string): Program {
  if (BUILT === undefined) return { file: join(ROOT, source), execArgv: ['--import', SOURCES] };
  return { file: join(BUILT, `${entryOf(source)}.mjs`), execArgv: [] };
}

/** For tests of the package as users get it. @throws Error where it is not built. */
export function builtPackage(): string {
  if (BUILT === undefined) throw new Error('The package is not built for this run.');
  return BUILT;
}

/** What it is called where it is built. */
export function entryOf(source: string): string {
  return source === 'src/cli/main.ts' ? 'cli' : source.replace(/\.ts$/, '');
}
