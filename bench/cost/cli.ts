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

interface Sample {
  readonly started: number;
  readonly ended: number;
}

/** A command that tells when it runs, in ns of the wall clock. */
const TELL = ['date', '+%s%N'];

const FLOOR = 'floor: node -e 0';

export async function measure([{ url }]: readonly [Place]): Promise<void> {
  const commands: Readonly<Record<string, readonly string[]>> = {
    [FLOOR]: ['-e', '0'],
    'holdfast run x -- date': [cli, 'run', '--store', url, 'x', '--', ...TELL],
  };
  const samples = new Map<string, Sample[]>(Object.keys(commands).map((what) => [what, []]));
  for (let i = 0; i <= RUNS; i++) {
    for (const [what, args] of Object.entries(commands)) {
      const sample = sampleOf(args);
      // The first round warms up: it makes the file and fills the caches.
      if (i > 0) samples.get(what)?.push(sample);
    }
  }
  const floor = median((samples.get(FLOOR) ?? []).map(({ ended }) => ended));
  for (const [what, all] of samples) {
    const started = all.map((one) => one.started);
    const goal = { goal: `median ≤ ${GOAL_MS} ms`, met: median(started) <= GOAL_MS };
    if (what !== FLOOR) row(`${what}: to a granted lock`, started, { floor, ...goal });
    const ended = all.map((one) => one.ended);
    row(`${what}: to its end`, ended, { floor });
  }
}

function row(
  what: string,
  times: readonly number[],
  { floor, ...goal }: { floor: number; goal?: string; met?: boolean },
): void {
  const mid = median(times);
  report({
    what,
    measured: { 'median ms': mid, 'p99 ms': quantile(times, 0.99), 'least ms': Math.min(...times) },
    ...{ ratio: mid / floor, ...goal },
  });
}

function sampleOf(args: readonly string[]): Sample {
  const wall = performance.timeOrigin + performance.now();
  const begin = performance.now();
  const { stdout, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const ended = performance.now() - begin;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return { started: Number(stdout) / 1e6 - wall, ended };
}
