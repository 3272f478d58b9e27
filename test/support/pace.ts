/**
 * Before tests on real clocks: how late this machine is now, and so how long leases have to be.
 * Whoever runs the tests may have said so already.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const PROBE_MS = 2000;
const TICK_MS = 10;

/** A quiet machine is never later than this, in ms, but for one time in a hundred. */
const QUIET_MS = 30;

export async function setup(): Promise<void> {
  process.env.HOLDFAST_PACE ??= paceOf(await gapsOf(PROBE_MS)).toFixed(1);
}

/** How many times as late as a quiet machine the 99th of a hundred gaps was; at least 1. */
export function paceOf(gapsMs: readonly number[]): number {
  const sorted = gapsMs.toSorted((a, b) => a - b);
  return Math.max(1, (sorted[Math.floor(sorted.length * 0.99)] ?? 0) / QUIET_MS);
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
