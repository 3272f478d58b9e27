/** The program with redis-py out of programs, on a Python of Debian's packages. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianProgram } from '../../servers/debian.ts';
import { folderOf, PLACES } from '../../servers/programs.ts';
import type { ForeignCommand } from './foreign-program.ts';

const PROGRAM = fileURLToPath(new URL('programs/redis_lock.py', import.meta.url));
const PYTHON = { release: 'trixie', packages: ['python3-minimal', 'python3-redis'] };

/** The first call may fetch it. Rejects if it is not to be had. */
export async function pythonDriver(...args: readonly string[]): Promise<ForeignCommand> {
  const python = await debianProgram({ ...PYTHON, cache: PLACES.cache }, 'bin/python3');
  // From here it finds its own library, wherever it was unpacked, and no other.
  const env = { PYTHONHOME: join(folderOf(python), '..'), PYTHONPATH: '' };
  return { command: [...python, PROGRAM, ...args], env };
}
