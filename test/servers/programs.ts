/** The programs that tests start: the machine's own, and what it lacks out of Debian's packages. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Debian, debianProgram } from './debian.ts';

/** How to start it: the program, and what comes before its own arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** `redis` is the oldest that is supported, or what the machine has. */
export type ProgramName = 'redis' | 'redis-8' | 'valkey' | 'cc' | 'openssl' | 'spin';

/** Where programs are looked for, and where those are kept that had to be fetched. */
export interface Places {
  readonly path: string;
  readonly cache: string;
}

const CACHE = new URL('../../node_modules/.cache/holdfast-servers', import.meta.url);

export const PLACES: Places = { path: process.env.PATH ?? '', cache: fileURLToPath(CACHE) };

const BOOKWORM = { release: 'bookworm', packages: ['redis-server'] };
const SPIN = { release: 'bookworm', packages: ['spin'] };
const TRIXIE = {
  release: 'trixie',
  packages: ['redis-server', 'valkey-server', 'tcc', 'openssl'],
};

interface Source {
  readonly onPath: string | undefined;
  readonly debian: Pick<Debian, 'release' | 'packages'>;
  readonly inDebian: string;
}

const PROGRAMS: Readonly<Record<ProgramName, Source>> = {
  redis: { onPath: 'redis-server', debian: BOOKWORM, inDebian: 'redis-server' },
  'redis-8': { onPath: undefined, debian: TRIXIE, inDebian: 'redis-server' },
  valkey: { onPath: 'valkey-server', debian: TRIXIE, inDebian: 'valkey-server' },
  cc: { onPath: 'cc', debian: TRIXIE, inDebian: 'tcc' },
  spin: { onPath: 'spin', debian: SPIN, inDebian: 'spin' },
  openssl: { onPath: 'openssl', debian: TRIXIE, inDebian: 'openssl' },
};

const found = new Map<ProgramName, Promise<Command>>();

/** The first call may fetch it, which takes seconds. Rejects if it is not to be had. */
export function findProgram(name: ProgramName): Promise<Command> {
  const program = found.get(name) ?? findProgramIn(PLACES, name);
  found.set(name, program);
  return program;
}

export async function findProgramIn(places: Places, name: ProgramName): Promise<Command> {
  const { onPath, debian, inDebian } = PROGRAMS[name];
  const file = onPath && (await onThePath(onPath, places.path));
  if (file) return [file];
  try {
    return await debianProgram({ ...debian, cache: places.cache }, inDebian);
  } catch (cause) {
    const where = onPath === undefined ? '' : `${onPath} is not on the PATH, and `;
    throw new Error(`${where}Debian's ${inDebian} is not to be had`, { cause });
  }
}

/** Why tests on a newer server than the oldest have to be skipped, if they have to. */
export async function missing(name: ProgramName): Promise<string | undefined> {
  const why = (error: Error): string => `not promised: ${name} on every machine: ${error.message}`;
  return findProgram(name).then(() => undefined, why);
}

/** Before the first test; what is not to be had fails those who start it. */
export async function setup(): Promise<void> {
  // One after the other: what two of them need is fetched once.
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) await missing(name);
}

async function onThePath(program: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, program);
    const there = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there && folder !== '') return file;
  }
  return undefined;
}
