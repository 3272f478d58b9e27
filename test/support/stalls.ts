/**
 * For how long this process, and so most likely the machine, stood still, or its disk did: a server
 * that commits waits for that.
 */
import { readFileSync } from 'node:fs';
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

const DISK = '/proc/pressure/io';

/** How long some process of this machine has waited for a disk, in ms; 0 where nothing tells. */
function diskMs(): number {
  try {
    const [, us = '0'] = /^some .*total=(\d+)/.exec(readFileSync(DISK, 'utf8')) ?? [];
    return Number(us) / 1000;
  } catch {
    return 0;
  }
}

/** Of a disk that stands still, some process waits for so much of the time. */
const STANDSTILL = 0.8;

type Gap = { readonly end: number; readonly ms: number };

export class Disk {
  readonly #waitedMs: () => number;
  #last: number;
  #gap: Gap | undefined;

  constructor(waitedMs: () => number = diskMs) {
    this.#waitedMs = waitedMs;
    this.#last = waitedMs();
  }

  /** The gap in which it stands still by now. */
  look(end: number, tookMs: number): Gap | undefined {
    const waited = this.#waitedMs();
    const stands = waited - this.#last > STANDSTILL * tookMs;
    this.#last = waited;
    this.#gap = stands ? { end, ms: (this.#gap?.ms ?? 0) + tookMs } : undefined;
    return this.#gap;
  }
}

/** Looks every 10 ms, until its process ends. */
export class StallWitness {
  /** Each is longer than those after it, so that there are few. */
  #gaps: readonly Gap[] = [];
  readonly #disk = new Disk();
  #last = now();
  #computed = computedMs();

  constructor() {
    setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get now(): number {
    return now();
  }

  /**
   * The longest time since then, in ms, for which it did not look although it did not compute, or
   * the disk stood still.
   */
  longestSince(start: number): number {
    this.#look();
    const since = this.#gaps.filter(({ end }) => end > start);
    return Math.max(0, ...since.map(({ end, ms }) => Math.min(ms, end - start)));
  }

  #look(): void {
    const end = now();
    const computed = computedMs();
    const tookMs = end - this.#last;
    // What the test itself computes is no one else's fault.
    this.#note({ end, ms: tookMs - (computed - this.#computed) - LOOK_MS });
    this.#note(this.#disk.look(end, tookMs));
    this.#last = end;
    this.#computed = computed;
  }

  #note(gap: Gap | undefined): void {
    if (!gap || gap.ms <= NOTED_MS) return;
    this.#gaps = [...this.#gaps.filter(({ ms }) => ms > gap.ms), gap];
  }
}
