/** One process of the fleet: runs the chunks that it is sent, and some seeds of them once more. */
import { type Chunk, NOTHING, type Sum } from './fleet.ts';
import { runWorld, runWorlds } from './run.ts';
import type { Outcome } from './world.ts';

/** Every so many seeds, one is run once more, alone. */
const REPEAT_EVERY = 50;

// Errors are made by the thousand, and nobody reads where.
Error.stackTraceLimit = 0;

process.on('message', async (chunk: Chunk) => {
  process.send?.(await runChunk(chunk));
});

async function runChunk({ from, count }: Chunk): Promise<Sum> {
  const sum = NOTHING();
  const seeds = Array.from({ length: count }, (_, i) => from + i);
  const courses = new Map<number, string>();
  await runWorlds(seeds, ({ seed, trace, steps }) => {
    sum.runs++;
    sum.steps += steps;
    for (const [what, times] of trace.counts) sum.counts[what] = (sum.counts[what] ?? 0) + times;
    const problems = trace.problems.map(({ at, what }) => `${at.toFixed(0)} ms: ${what}`);
    if (problems.length > 0) sum.failures.push({ seed, problems });
    courses.set(seed, trace.hash);
    return sum.failures.length === 0;
  });
  for (const seed of seeds.filter((each) => each % REPEAT_EVERY === 0 && courses.has(each))) {
    const again: Outcome = await runWorld(seed);
    sum.repeated++;
    if (again.trace.hash === courses.get(seed)) continue;
    sum.failures.push({ seed, problems: ['it took another course when it was run again'] });
  }
  return sum;
}
