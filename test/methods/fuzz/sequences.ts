/**
 * Runs of calls, chosen and shrunk by fast-check. A run is a sequence in a world of its own, or one
 * in which only calls with wrong arguments are made, so that nothing may reach the store.
 */
import fc from 'fast-check';
import { ENTRY_STEPS } from './entry-steps.ts';
import { JOB_STEPS } from './job-steps.ts';
import { OTHER_STEPS } from './lease-steps.ts';
import { LOCK_STEPS } from './lock-steps.ts';
import { complain, type ProcessWatch, type Replay } from './process-watch.ts';
import { type Step, tally } from './step.ts';
import { World } from './world.ts';

const sequence = fc.array(fc.oneof(...LOCK_STEPS, ...JOB_STEPS, ...OTHER_STEPS, ...ENTRY_STEPS), {
  minLength: 1,
  maxLength: 120,
  size: 'max',
});

async function play(
  steps: readonly Step[],
  wrongOnly: boolean,
  watch: ProcessWatch,
): Promise<void> {
  const world = new World(wrongOnly);
  for (const step of steps) await step.run(world);
  if (wrongOnly) {
    await world.clock.advance(1_000);
    if (world.store.total() > 0) complain(`${world.store.total()} requests for wrong calls`);
  }
  await world.end();
  watch.check();
}

const RUNS = 200;

/** Plays sequences until so many calls were made; throws fast-check's report if one goes wrong. */
export async function playCalls(
  calls: number,
  { seed, path }: Replay,
  watch: ProcessWatch,
): Promise<void> {
  for (let at = seed; called() < calls; at++) {
    const property = fc.asyncProperty(sequence, fc.nat(4), (steps, n) =>
      play(steps, n === 0, watch),
    );
    await fc.assert(property, { seed: at, ...(path === undefined ? { numRuns: RUNS } : { path }) });
    if (path !== undefined) return;
  }
}

export function called(): number {
  let sum = 0;
  for (const { taken, refused } of tally.values()) sum += taken + refused;
  return sum;
}
