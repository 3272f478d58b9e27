/** Programs in Go: built in a folder of their own, which goes with all that the build made. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLACES } from './programs.ts';

export type GoPlace = { readonly folder: string; readonly env: NodeJS.ProcessEnv };

/** To compile is the work, not to serve tests: so nothing is optimized. */
const FLAGS = ['-trimpath', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w'];

/** A program of the tests' own; its folder has a go.mod, and a go.sum with all modules. */
export interface GoProgram {
  readonly name: string;
  readonly folder: string;
  /** Below the folder; default: the folder itself. */
  readonly target?: string;
  /** What it is made of, below the folder. */
  readonly files: readonly string[];
}

/**
 * Builds it, unless it was built before; rejects without Go or a network.
 *
 * @param place with what was compiled before; default: all is compiled.
 */
export async function goProgram(program: GoProgram, place?: GoPlace): Promise<string> {
  const { name, folder, target = '.', files } = program;
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(join(folder, file)));
  const output = join(PLACES.cache, `go+${name}+${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(output)) return output;
  if (!place) return withGo((own) => goProgram(program, own));
  const source = `source+${name}`;
  await cp(folder, join(place.folder, source), { recursive: true });
  await goBuild(place, { source, target, output });
  return output;
}

/** Why tests with it have to be skipped, if they have to. */
export function missingGo(program: GoProgram): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: Go on every machine: ${error.message}`;
  return goProgram(program).then(() => undefined, why);
}

/** What is built in one place is compiled once. */
export async function withGo<T>(work: (place: GoPlace) => Promise<T>): Promise<T> {
  await mkdir(PLACES.cache, { recursive: true });
  const folder = await mkdtemp(join(PLACES.cache, 'go-'));
  const env = {
    ...process.env,
    ...{ GOFLAGS: '-p=1 -modcacherw', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
    ...{ GOMODCACHE: join(folder, 'modules'), GOCACHE: join(folder, 'built') },
  };
  try {
    return await work({ folder, env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param build `source` is a folder in the place, with a go.mod. */
export async function goBuild(
  { folder, env }: GoPlace,
  build: {
    readonly source: string;
    readonly target: string;
    readonly output: string;
    /** Asks which modules those of go.mod need, as there is no go.sum. Default: it has all. */
    readonly resolves?: boolean;
  },
): Promise<void> {
  const program = join(folder, 'program');
  const mode = build.resolves ? '-mod=mod' : '-mod=readonly';
  const args = ['build', mode, ...FLAGS, '-o', program, build.target];
  // As all that only computes: tests that count on clocks go first.
  const options = { cwd: join(folder, build.source), env };
  await promisify(execFile)('nice', ['-n', '10', 'go', ...args], options);
  await rename(program, build.output);
}
