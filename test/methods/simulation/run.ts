/**
 * Runs worlds, many of them side by side in one thread.
 *
 * A world takes a step only after all microtasks of the step before have run, and a turn of the
 * event loop is what makes sure of that. Turns cost more than steps, so in each turn every world
 * takes one: they share nothing, and each takes the same course as alone.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type Outcome, World } from './world.ts';

/** So many worlds at a time: enough to share a turn, few enough for the caches of the processor. */
const WIDTH = 4;

/** Runs these seeds in order, a crowd at a time; `done` may end it by answering false. */
export async function runWorlds(
  seeds: Iterable<number>,
  done: (outcome: Outcome) => boolean,
): Promise<void> {
  const next = seeds[Symbol.iterator]();
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', note);
  let crowd: { readonly seed: number; readonly world: World }[] = [];
  let suspects: number[] = [];
  let more = true;
  while (more) {
    while (crowd.length < WIDTH) {
      const seed = next.next();
      if (seed.done) break;
      crowd.push({ seed: seed.value, world: new World(seed.value) });
    }
    if (crowd.length === 0) break;
    for (const { world } of crowd) world.step();
    await turn();
    if (rejections.splice(0).length > 0) {
      suspects = crowd.map(({ seed }) => seed);
      break;
    }
    const over = crowd.filter(({ world }) => world.over);
    if (over.length === 0) continue;
    crowd = crowd.filter(({ world }) => !world.over);
    for (const { world } of over) more &&= done(world.outcome);
  }
  process.removeListener('unhandledRejection', note);
  // Somebody's promise was rejected in the air: whose, they tell when they run alone.
  for (const seed of suspects) if (more) more = done(await runWorld(seed));
  if (suspects.length > 0 && more) throw new Error('A rejection was unhandled, and not again.');
}

/** Runs one world alone. */
export async function runWorld(seed: number, trace = false): Promise<Outcome> {
  const world = new World(seed, trace);
  const note = (reason: unknown): void => world.trace.fail(`unhandled rejection: ${reason}`);
  process.on('unhandledRejection', note);
  while (!world.over) {
    world.step();
    await turn();
  }
  process.removeListener('unhandledRejection', note);
  return world.outcome;
}
