import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../steps.ts';

/** The one that is written in Go takes a third of the time; the word of `tsc` counts. */
export type Compiler = 'native' | 'tsc';

/** Folders with a `tsconfig.json`: they differ in options that hold for a whole program. */
export const PROJECTS = ['', 'test/integrations/nestjs', 'src/dashboard/ui'] as const;

const PROGRAMS: Readonly<Record<Compiler, readonly string[]>> = {
  // Each of its threads would find out the same about the types of clients.
  native: ['@typescript/native-preview/bin/tsgo', '--singleThreaded'],
  tsc: ['typescript/bin/tsc'],
};

/** What it says of the project with its `tsconfig.json` in this folder, by paths from there. */
export async function complaintsOf(folder: string, compiler: Compiler): Promise<string[]> {
  const [file = '', ...options] = PROGRAMS[compiler];
  const args = [join(ROOT, 'node_modules', file), '--pretty', 'false', ...options];
  try {
    await promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28 });
    return [];
  } catch (error) {
    const { stdout = '' } = error as { readonly stdout?: string };
    if (!/error TS\d+:/.test(stdout)) throw error;
    // A complaint goes on in lines that begin with a space.
    return stdout.trimEnd().split(/\n(?! )/);
  }
}
