/**
 * Tells a leak from noise.
 *
 * What each round keeps adds up, and what is kept once, such as compiled code and caches, does not.
 * So the second half of the rounds is measured against the first, when nothing more can be
 * collected, and what seems to leak is measured again: noise ends some time, a leak does not.
 */
import { setFlagsFromString } from 'node:v8';
import { expect } from 'vitest';
import { collect } from '../../support/garbage.ts';

// Code that is compiled, recompiled and dropped moves the heap by some 200 kB from time to time.
for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode']) {
  setFlagsFromString(flag);
}

/** More than this, in bytes for each round, is a leak: a promise with a closure takes as much. */
const LIMIT = 100;
/** The same for a round that connects. What Node keeps of sockets comes and goes by some 100 kB. */
const CONNECTION = {
  /** A client of a package takes five times as much, in bytes. */
  limit: 2000,
  /** A connection to Redis is looked after for 1.5 s, also when it is closed by then. */
  restMs: 1600,
};
/** What the process itself may use more of, in bytes: a few tables that have grown. */
const NOISE = 32 * 1024;
/** Until such tables stand still; a leak grows in each of them. */
const TRIES = 12;

/** For answers that nobody waits for, and for what Node frees some turns later, in ms. */
const PAUSE_MS = 50;

/** What is left when nothing more can be collected. */
async function heap(restMs: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, restMs));
  let least = Number.POSITIVE_INFINITY;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    collect();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > least - NOISE / 2) return Math.min(heapUsed, least);
    least = heapUsed;
  }
}

/** Fails if the rounds keep more bytes each than noise. */
export async function expectNoLeak(
  {
    rounds,
    connects = false,
  }: { readonly rounds: number; readonly connects?: boolean | undefined },
  run: () => Promise<void>,
): Promise<void> {
  const { limit, restMs } = connects ? CONNECTION : { limit: LIMIT, restMs: 0 };
  let kept = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && kept >= limit; tries++) {
    const before = await heap(restMs);
    await run();
    kept = Math.min(kept, ((await heap(restMs)) - before - NOISE) / rounds);
  }
  expect(kept, 'bytes kept by a round').toBeLessThan(limit);
}

const EVENTS = ['SIGINT', 'SIGTERM', 'exit', 'beforeExit', 'warning', 'unhandledRejection'];

/** What keeps the process alive, and who listens to it, each with how many there are. */
export function resources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const event of EVENTS) counts[event] = process.listenerCount(event);
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== 'Immediate') counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** What there is more of than before. */
export function more(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(after)
    .filter(([what, count]) => count > (before[what] ?? 0))
    .map(([what, count]) => `${what}: ${count}, not ${before[what] ?? 0}`);
}
