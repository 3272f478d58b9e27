/** The three fuzzers one after the other, and what they have to report. */
import { parseArgs } from 'node:util';
import { openStore } from 'holdfast/connect';
import { playAnswers } from './answers.ts';
import { UNOPENED } from './entry-steps.ts';
import { playNamePairs, STORES } from './names.ts';
import { type Replay, watchProcess } from './process-watch.ts';
import { called, playCalls } from './sequences.ts';
import { tally } from './step.ts';

const OPTIONS = {
  /** How many calls; the others follow from it unless they are said. */
  calls: { type: 'string', default: '500000' },
  answers: { type: 'string' },
  names: { type: 'string' },
  seed: { type: 'string', default: '1' },
  /** Of fast-check: plays one run again; together with `only`. */
  path: { type: 'string' },
  /** `calls`, `answers` or `names`. */
  only: { type: 'string' },
} as const;

/** Answers whether all went well. */
export async function runFuzz(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const calls = Number(values.calls);
  const replay = { seed: Number(values.seed), path: values.path };
  const parts: Readonly<Record<string, (replay: Replay) => Promise<string>>> = {
    calls: (how) => fuzzCalls(calls, how),
    answers: (how) => fuzzAnswers(Number(values.answers ?? calls / 20), how),
    names: (how) => fuzzNames(Number(values.names ?? calls / 10), how),
  };
  for (const [name, play] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue;
    const start = performance.now();
    try {
      const report = await play(replay);
      console.log(`${report}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      console.log(error);
      const [, seed, course] = /seed: (-?\d+), path: "([^"]*)"/.exec(String(error)) ?? [];
      const again = `npm run fuzz -- --only ${name} --seed ${seed} --path ${course}`;
      if (course) console.log(`\nOnce more: ${again}`);
      return false;
    }
  }
  return true;
}

async function fuzzCalls(calls: number, replay: Replay): Promise<string> {
  // Modules are loaded when they are first needed, and that takes open resources.
  for (const url of UNOPENED) await (await openStore(url)).close?.();
  const start = performance.now();
  await watched((watch) => playCalls(calls, replay, watch));
  const seconds = (performance.now() - start) / 1000;
  const sum = called();
  const counts = [...tally].sort(([, a], [, b]) => b.taken + b.refused - a.taken - a.refused);
  const refused = counts.reduce((total, [, count]) => total + count.refused, 0);
  for (const [name, count] of counts) {
    const share = ((100 * count.refused) / (count.taken + count.refused)).toFixed(0);
    console.log(`${String(count.taken + count.refused).padStart(9)}  ${name} (${share} % wrong)`);
  }
  const share = ((100 * refused) / sum).toFixed(0);
  const rate = Math.round(sum / seconds);
  return `${sum} calls of ${counts.length} functions, ${share} % of them wrong, ${rate} a second`;
}

async function fuzzAnswers(answers: number, replay: Replay): Promise<string> {
  const { answers: garbled, runs } = await watched((watch) => playAnswers(answers, replay, watch));
  return `${garbled} garbled answers of stores in ${runs} runs`;
}

async function fuzzNames(pairs: number, { seed, path }: Replay): Promise<string> {
  await playNamePairs(pairs, seed, path);
  return `${pairs} pairs of names on each of ${Object.keys(STORES).join(', ')}`;
}

async function watched<T>(
  play: (watch: ReturnType<typeof watchProcess>) => Promise<T>,
): Promise<T> {
  const watch = watchProcess();
  try {
    return await play(watch);
  } finally {
    watch.stop();
  }
}
