/**
 * The start of the command line: from the spawn to the first moment of the command, when the lock
 * has been granted, and to its end. Takes turns with Node alone, which is the floor.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from './processes.ts';
import { median, quantile, report } from './result.ts';

const RUNS = 60;
const GOAL_MS = 150;

const cli = fileURLToPath(new URL('dist/cli.mjs', import.meta.resolve('holdfast/package.json')));
const store = `sqlite:${join(scratchFolder(), 'locks.db')}`;

interface Sample {
  readonly started: number;
  readonly ended: number;
}

/** A command that tells when it runs, in ns of the wall clock. */
const TELL = ['date', '+%s%N'];

const candidates: Readonly<Record<string, readonly string[]>> = {
  'floor: node -e 0': ['-e', '0'],
  'holdfast run x -- date': [cli, 'run', '--store', store, 'x', '--', ...TELL],
};

const samples = new Map<string, Sample[]>(Object.keys(candidates).map((what) => [what, []]));
for (let i = 0; i <= RUNS; i++) {
  for (const [what, args] of Object.entries(candidates)) {
    const sample = sampleOf(args);
    // The first round warms up: it makes the file and fills the caches.
    if (i > 0) samples.get(what)?.push(sample);
  }
}

const floor = median((samples.get('floor: node -e 0') ?? []).map(({ ended }) => ended));
for (const [what, all] of samples) {
  const isFloor = what.startsWith('floor');
  if (!isFloor)
    row(
      `${what}: to a granted lock`,
      all.map(({ started }) => started),
      true,
    );
  row(
    `${what}: to its end`,
    all.map(({ ended }) => ended),
    false,
  );
}

function row(what: string, times: readonly number[], hasGoal: boolean): void {
  const mid = median(times);
  report({
    figure: 'cli',
    what,
    measured: { 'median ms': mid, 'p99 ms': quantile(times, 0.99), 'least ms': Math.min(...times) },
    ratio: mid / floor,
    ...(hasGoal ? { goal: `median ≤ ${GOAL_MS} ms`, met: mid <= GOAL_MS } : {}),
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
