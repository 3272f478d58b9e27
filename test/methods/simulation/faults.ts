/** What goes wrong in a world, and when. */
import type { Weather } from 'holdfast/testkit';
import type { Chance } from './chance.ts';
import type { World } from './world.ts';

/** How much trouble there is in a world, from none at all to all at once. */
export interface Trouble {
  readonly inModel: boolean;
  readonly weather: Partial<Weather>;
  /** Share of all readings of a clock at which a process stands still. */
  readonly stalls: number;
  /** By how much core is told that clocks may differ. */
  readonly drift: number;
  /** Seconds of a process's clock in a second of the world, drawn for each. */
  readonly rate: (chance: Chance) => number;
  readonly events: number;
  /** Nothing goes wrong but, perhaps, one part of the server. */
  readonly calm: boolean;
  /** A store that lost its memory grants nothing for so long. */
  readonly quarantineMs: number;
}

const LATE_MS = [50, 2_500] as const;
const SLOW_MS = [5, 60] as const;

export function drawTrouble(chance: Chance, longestTtlMs: number): Trouble {
  const inModel = chance.share(0.75);
  const drift = chance.one([0.01, 0.01, 0.1]);
  const level = chance.one([0, 0.3, 1, 1, 2.5]);
  const delayMs = chance.one([[0, 2], [0, 20], SLOW_MS] as const);
  return {
    inModel,
    drift,
    weather: {
      ...{ delayMs, lateMs: LATE_MS, late: 0.03 * level, loseRequest: 0.02 * level },
      ...{ loseAnswer: 0.03 * level, refuse: 0.01 * level, duplicate: 0.04 * level },
      ...{ loseHint: 0.1 * level, lateHint: 0.1 * level },
    },
    stalls: level === 0 ? 0 : chance.one([0, 0, 0.001, 0.004]),
    // A clock that runs slow by less than the drift that core allows for; a fast one does no harm.
    rate: (each) =>
      inModel ? 1 - 0.9 * drift + each.next() * 3 * drift : 0.7 + each.next() * 0.5 - drift,
    events: level === 0 ? 0 : chance.below(5),
    // Slow messages alone may take longer than an answer is waited for.
    calm: level === 0 && delayMs !== SLOW_MS,
    quarantineMs: inModel || chance.share(0.5) ? longestTtlMs : 0,
  };
}

/** One thing that goes wrong. */
export function strike(world: World, chance: Chance, inModel: boolean): void {
  const { server } = world;
  const process = chance.one(world.alive);
  const what = chance.below(inModel ? 7 : 8);
  if (what === 0 && process) process.stall(chance.between(50, 3_000));
  if (what === 1 && process) world.replace(process, () => process.crash());
  if (what === 2 || what === 3) {
    server.stop();
    if (what === 3) server.forget();
    if (what === 3) world.ledger.move(server.memory.lineage);
    world.schedule.after(chance.between(0, 800), () => server.start());
  }
  if (what === 4 && process) {
    world.trace.count('fault: partition');
    world.trace.add(process.name, 'is cut off');
    process.network.change({ loseRequest: 1, loseHint: 1 });
    const heal = (): void => process.network.change({ loseRequest: 0.02, loseHint: 0.1 });
    world.schedule.after(chance.between(100, 2_500), heal);
  }
  if (what === 5 && process) world.replace(process, () => world.close(process, chance));
  if (what === 6) world.schedule.after(0, () => {});
  if (what === 7) server.jump(chance.between(100, 1_500));
}
