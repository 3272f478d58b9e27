/** The long trial: programs of both sides count in one file, which nothing but the lock guards. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ForeignProgram } from './foreign-program.ts';

/** How long they count: HOLDFAST_TRIAL_MS=60000 for the long trial. */
export const TRIAL_MS: number = Number(process.env.HOLDFAST_TRIAL_MS ?? 5000);

const SIDES = ['java', 'ours', 'java', 'ours', 'java', 'ours', 'java', 'ours'] as const;

export type Sides = Readonly<Record<'java' | 'ours', () => Promise<ForeignProgram>>>;

export async function countTogether(
  sides: Sides,
  [kind, name]: readonly [string, string],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-sharing-'));
  const file = join(folder, 'number');
  await writeFile(file, '0');
  const programs = await Promise.all(SIDES.map((side) => sides[side]()));
  try {
    const counts = await Promise.all(
      programs.map((program) => program.thread().count(kind, name, file, TRIAL_MS)),
    );
    const sum = counts.reduce((one, other) => one + other, 0);
    console.log(`${sum} turns in ${TRIAL_MS} ms: ${counts.join(', ')}`);
    expect(Number(await readFile(file, 'utf8'))).toBe(sum);
    // The queues are fair: each had its turns.
    expect(Math.min(...counts)).toBeGreaterThan(0);
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
    await rm(folder, { recursive: true });
  }
}
