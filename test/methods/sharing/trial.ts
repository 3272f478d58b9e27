/** Both sides count in one file, which nothing guards but the lock that they share. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { directory } from '../../support/directory.ts';
import { until } from '../../support/until.ts';
import { type ForeignCommand, ForeignProgram, type ForeignThread } from './foreign-program.ts';

/** How long, in ms; `HOLDFAST_TRIAL_MS=60000` for a long one. */
const TRIAL_MS = Number(process.env.HOLDFAST_TRIAL_MS ?? 4000);
export const LONG_TRIAL: boolean = TRIAL_MS >= 30_000;

/** The tasks of one process that crowd a lock, and for how long others count beside them, in ms. */
const CROWD = { tasks: 32, ms: 5000 };

/** The crowd stays so much longer, in ms: all turns of the others but their last are beside it. */
const OUTLASTS_MS = 500;

type NamedLock = { readonly kind: string; readonly name: string };

/** How often each has counted. */
export type Trial = { readonly own: readonly number[]; readonly foreign: readonly number[] };

/** Four processes of each: no turn is lost. */
export async function trial(
  own: ForeignCommand,
  foreign: ForeignCommand,
  lock: NamedLock,
): Promise<Trial> {
  const commands = [own, own, own, own, foreign, foreign, foreign, foreign];
  return inPrograms(commands, (threads) =>
    countTogether(threads.slice(0, 4), threads.slice(4), lock),
  );
}

/**
 * 32 tasks of one process of ours leave turns to two foreign programs, which wait as their library
 * does. Each of these has at least a tenth of what it would have among all 34 in turn, one turn in
 * 340: as our own programs have it in conformance/locks/sharing.ts.
 *
 * Where the store shows no waiters, the process rests for some 40 or for 110 ms after 50 ms, in
 * which it has about 45 turns. So one turn in 340 is about one in a second. A program that is told
 * of releases can have turns in every rest; one that looks ten times a second finds the lock free
 * in two looks of five. ShedLock does not wait: its program looks 50 times a second. client-go
 * looks every 100 to 220 ms here: at its usual 2 to 4.4 s, less than once in 340 such short
 * turns.
 */
export async function crowdedTrial(
  own: ForeignCommand,
  foreign: ForeignCommand,
  { kind, name }: NamedLock,
): Promise<void> {
  const { tasks, ms } = CROWD;
  const turns = await inPrograms([own, foreign, foreign], ([crowd, ...others]) =>
    countExactly((file) => {
      const words = [`${tasks}`, kind, name, file, `${ms + OUTLASTS_MS}`];
      const begun = until('the crowd counts', () => Number(readFileSync(file, 'utf8')) > 0);
      return [
        crowd!.ask('crowd', ...words).then(Number),
        ...others.map((other) => begun.then(() => other.count(kind, name, file, ms))),
      ];
    }),
  );
  const [ours, ...theirs] = turns;
  const tenth = sum(turns) / (tasks + theirs.length) / 10;
  const counted = `turns of ${tasks} tasks: ${ours}; of two programs: ${theirs.join(', ')}`;
  console.log(`${counted}; a tenth of a fair share: ${tenth.toFixed(1)}`);
  expect(Math.min(...theirs), counted).toBeGreaterThanOrEqual(tenth);
}

/** These threads: no turn is lost. */
export async function countTogether(
  own: readonly ForeignThread[],
  foreign: readonly ForeignThread[],
  { kind, name }: NamedLock,
): Promise<Trial> {
  const turns = await countExactly((file) =>
    [...own, ...foreign].map((thread) => thread.count(kind, name, file, TRIAL_MS)),
  );
  const counted = { own: turns.slice(0, own.length), foreign: turns.slice(own.length) };
  if (LONG_TRIAL) console.log(`turns of ${kind}:`, counted);
  return counted;
}

/** In programs of their own, one thread in each. */
async function inPrograms<T>(
  commands: readonly ForeignCommand[],
  work: (threads: readonly ForeignThread[]) => Promise<T>,
): Promise<T> {
  const started = await Promise.all(commands.map(ForeignProgram.start));
  try {
    return await work(started.map((program) => program.thread()));
  } finally {
    for (const program of started) await program.kill();
  }
}

/** How often each has added one to the number in a file: no turn is lost. */
async function countExactly(
  begin: (file: string) => readonly Promise<number>[],
): Promise<readonly number[]> {
  const file = join(directory(), 'number');
  writeFileSync(file, '0');
  const turns = await Promise.all(begin(file));
  expect(Number(readFileSync(file, 'utf8'))).toBe(sum(turns));
  return turns;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each);
}
