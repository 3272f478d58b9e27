/** Programs of two kinds count in one file, which nothing guards but the lock that they share. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ForeignCommand, ForeignProgram } from './foreign-program.ts';

/** How long, in ms; `HOLDFAST_TRIAL_MS=60000` for a long one. */
const TRIAL_MS = Number(process.env.HOLDFAST_TRIAL_MS ?? 4000);

export interface Trial {
  readonly counted: number;
  /** How often each program says that it counted. */
  readonly own: readonly number[];
  readonly foreign: readonly number[];
}

/** Four processes of each. */
export async function trial(
  own: ForeignCommand,
  foreign: ForeignCommand,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-trial-'));
  const file = join(folder, 'number');
  writeFileSync(file, '0');
  const started = await Promise.all([...four(own), ...four(foreign)].map(ForeignProgram.start));
  try {
    const counts = await Promise.all(
      started.map((program) => program.thread().count(kind, name, file, TRIAL_MS)),
    );
    const counted = Number(readFileSync(file, 'utf8'));
    const [ours, theirs] = [counts.slice(0, 4), counts.slice(4)];
    if (TRIAL_MS >= 30_000)
      console.log(`${kind}: ${counted} turns, ours ${ours}, theirs ${theirs}`);
    return { counted, own: ours, foreign: theirs };
  } finally {
    for (const program of started) await program.kill();
    rmSync(folder, { recursive: true });
  }
}

function four<T>(one: T): T[] {
  return Array.from({ length: 4 }, () => one);
}
