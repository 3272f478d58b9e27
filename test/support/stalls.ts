/** For how long this process, and so most likely the machine, stood still. */
import { performance } from 'node:perf_hooks';

/** How often it looks, in ms, and what is too short to be kept. */
const LOOK_MS = 10;
const NOTED_MS = 3 * LOOK_MS;

// Tests replace the functions of timers and clocks.
const now: () => number = performance.now.bind(performance);
const cpuUsage = process.cpuUsage.bind(process);
const idle = performance.eventLoopUtilization.bind(performance);
const { setInterval } = globalThis;

/** What this process has computed since it started, in ms. */
function computedMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/**
 * The time that this process has had, in ms: it computed, or had nothing to do. What it waits for
 * a processor is not in it.
 */
export function ownMs(): number {
  return computedMs() + idle().idle;
}

/** Looks every 10 ms, until its process ends. */
export class StallWitness {
  readonly #gaps: { readonly end: number; readonly ms: number }[] = [];
  #last = now();
  #computed = computedMs();

  constructor() {
    setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get now(): number {
    return now();
  }

  /** The longest time since then for which it did not look although it did not compute, in ms. */
  longestSince(start: number): number {
    this.#look();
    const since = this.#gaps.filter(({ end }) => end > start);
    return Math.max(0, ...since.map(({ end, ms }) => Math.min(ms, end - start)));
  }

  #look(): void {
    const end = now();
    const computed = computedMs();
    // What the test itself computes is no one else's fault.
    const ms = end - this.#last - (computed - this.#computed) - LOOK_MS;
    if (ms > NOTED_MS) this.#gaps.push({ end, ms });
    this.#last = end;
    this.#computed = computed;
  }
}
