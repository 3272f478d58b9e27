/**
 * Before tests on real clocks: how late this machine is now, and so how long leases have to be.
 * Whoever runs the tests may have said so already.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const PROBE_MS = 1500;
const COMPUTED_MS = 300;
const TICK_MS = 10;

/** A quiet machine is never later than this, in ms, but for one time in a hundred. */
const QUIET_MS = 30;

/** On a quiet machine, what computes for a second has it in less than so many. */
const QUIET_SHARE = 1.5;

export async function setup(): Promise<void> {
  process.env.HOLDFAST_PACE ??= paceOf(await gapsOf(PROBE_MS), slowness()).toFixed(1);
  const { HOLDFAST_PACE: pace } = process.env;
  if (pace !== '1.0') console.log(`This machine is busy: leases are ${pace} times as long.`);
}

/**
 * How many times later than on a quiet machine the 99th of a hundred gaps was, or what computes,
 * if that is more: the system lets who has slept go first. At least 1.
 */
export function paceOf(gapsMs: readonly number[], slow: number): number {
  const sorted = gapsMs.toSorted((a, b) => a - b);
  const late = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  return Math.max(1, late / QUIET_MS, slow / QUIET_SHARE);
}

/** How long this process has to be at work for a second of a processor, in seconds. */
function slowness(): number {
  const begin = performance.now();
  const start = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(start);
    const computedMs = (user + system) / 1000;
    if (computedMs >= COMPUTED_MS) return (performance.now() - begin) / computedMs;
  }
}

async function gapsOf(ms: number): Promise<number[]> {
  const gaps: number[] = [];
  const begin = performance.now();
  for (let last = begin; last < begin + ms; ) {
    await sleep(TICK_MS);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}
