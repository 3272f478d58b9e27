import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = pathToFileURL(join(ROOT, 'scripts/sources.mjs')).href;

/** The folder with the package as `test/support/built.ts` has built it, if it has. */
export const BUILT: string | undefined = process.env.HOLDFAST_BUILT;

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

/** What it is called where it is built. */
export function entryOf(source: string): string {
  return source === 'src/cli/main.ts' ? 'cli' : source.replace(/\.ts$/, '');
}
