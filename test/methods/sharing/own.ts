/** A process with our own locks that does as foreign programs do (foreign-program.ts). */
import { fileURLToPath } from 'node:url';
import type { ForeignCommand } from './foreign-program.ts';

const PROGRAM = fileURLToPath(new URL('programs/own-program.ts', import.meta.url));
const SOURCES = new URL('../../../scripts/sources.mjs', import.meta.url).href;

/**
 * On the store that `open(...args)` of this file returns. A lease of 0 is 1000 ms, with heartbeats.
 * Its own commands: `holds kind name` says whether its lease is held.
 * `crowd tasks kind name file ms` is `count` by so many tasks, which hand the lock to each other
 * and hold it for a millisecond each.
 */
export function ownProgram(file: string, ...args: readonly string[]): ForeignCommand {
  return { command: [process.execPath, '--import', SOURCES, PROGRAM, file, ...args] };
}
