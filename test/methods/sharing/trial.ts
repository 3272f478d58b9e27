/** Both sides count in one file, which nothing guards but the lock that they share. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ForeignCommand, ForeignProgram, type ForeignThread } from './foreign-program.ts';

/** How long, in ms; `HOLDFAST_TRIAL_MS=60000` for a long one. */
const TRIAL_MS = Number(process.env.HOLDFAST_TRIAL_MS ?? 4000);
export const LONG_TRIAL: boolean = TRIAL_MS >= 30_000;

interface NamedLock {
  readonly kind: string;
  readonly name: string;
}

/** How often each has counted. */
export interface Trial {
  readonly own: readonly number[];
  readonly foreign: readonly number[];
}

/** Four processes of each: no turn is lost. */
export async function trial(
  own: ForeignCommand,
  foreign: ForeignCommand,
  lock: NamedLock,
): Promise<Trial> {
  const commands = [own, own, own, own, foreign, foreign, foreign, foreign];
  const started = await Promise.all(commands.map(ForeignProgram.start));
  try {
    const threads = started.map((program) => program.thread());
    return await countTogether(threads.slice(0, 4), threads.slice(4), lock);
  } finally {
    for (const program of started) await program.kill();
  }
}

/** These threads: no turn is lost. */
export async function countTogether(
  own: readonly ForeignThread[],
  foreign: readonly ForeignThread[],
  { kind, name }: NamedLock,
): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-trial-'));
  const file = join(folder, 'number');
  writeFileSync(file, '0');
  const turns = await Promise.all(
    [...own, ...foreign].map((thread) => thread.count(kind, name, file, TRIAL_MS)),
  );
  expect(Number(readFileSync(file, 'utf8'))).toBe(turns.reduce((sum, each) => sum + each));
  rmSync(folder, { recursive: true });
  const counted = { own: turns.slice(0, own.length), foreign: turns.slice(own.length) };
  if (LONG_TRIAL) console.log(`turns of ${kind}:`, counted);
  return counted;
}
