import { fileURLToPath } from 'node:url';
import type { ForeignCommand } from './foreign-program.ts';

const OWN = fileURLToPath(new URL('programs/own-program.ts', import.meta.url));

/** A program of ours, which takes the same commands as the foreign ones. */
export function ownProgram(...args: readonly string[]): ForeignCommand {
  return { command: [process.execPath, '--import', './scripts/sources.mjs', OWN, ...args] };
}
