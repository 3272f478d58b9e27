/**
 * The start of the command line: from the spawn to the first moment of the command, when the lock
 * has been granted, and to its end. Takes turns with Node alone, which is the floor.
 */
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { median, quantile, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';

const RUNS = 60;
const GOAL_MS = 150;

const cli = fileURLToPath(new URL('dist/cli.mjs', import.meta.resolve('holdfast/package.json')));

/** A command that tells when it runs, in ns of the wall clock. */
const TELL = ['date', '+%s%N'];

export async function measure([{ url }]: readonly [Place]): Promise<void> {
  const commands = [
    ['-e', '0'],
    [cli, 'run', '--store', url, 'x', '--', ...TELL],
  ].map((args) => ({ args, started: [] as number[], ended: [] as number[] }));
  for (let i = 0; i <= RUNS; i++) {
    for (const { args, started, ended } of commands) {
      const wall = performance.timeOrigin + performance.now();
      const begin = performance.now();
      const { stdout, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
      // The first round warms up: it makes the file and fills the caches.
      if (i > 0) ended.push(performance.now() - begin);
      if (i > 0) started.push(Number(stdout) / 1e6 - wall);
    }
  }
  const [floor, ours] = commands;
  const row = (what: string, times: readonly number[] = []): void => {
    const is = median(times);
    const measured = { 'median ms': is, 'p99 ms': quantile(times, 0.99) };
    const goal = { goal: `median ≤ ${GOAL_MS} ms`, met: is <= GOAL_MS };
    report({
      ...{ what, measured: { ...measured, 'least ms': Math.min(...times) } },
      ...{ ratio: is / median(floor?.ended ?? []), ...(times === ours?.started && goal) },
    });
  };
  row('floor: node -e 0: to its end', floor?.ended);
  row('holdfast run x -- date: to a granted lock', ours?.started);
  row('holdfast run x -- date: to its end', ours?.ended);
}
