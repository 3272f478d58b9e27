/** The figures of the last minute. */
import type { BusyName, Rates } from './wire.ts';

/** Over how much rates are counted, in seconds. */
const WINDOW_S = 60;

/** How many of the newest samples make a median. */
const MAX_SAMPLES = 2_000;

/** Of how many names grants are counted: those that were granted last. */
const MAX_NAMES = 1_000;

/** How many of the busiest names are shown. */
const MAX_BUSIEST = 20;

export class Figures {
  readonly losses: CountBySecond = new CountBySecond();
  readonly waits: Samples = new Samples();
  readonly handOffs: Samples = new Samples();
  readonly #grants = new CountBySecond();
  readonly #byName = new Map<string, CountBySecond>();

  granted(name: string, at: number): void {
    const own = this.#byName.get(name) ?? new CountBySecond();
    for (const count of [this.#grants, own]) count.add(at);
    this.#byName.delete(name);
    this.#byName.set(name, own);
    keepNewest(this.#byName, MAX_NAMES);
  }

  rates(now: number): Rates {
    const [grants, losses] = [this.#grants.total(now), this.losses.total(now)];
    const [waitMs, handOffMs] = [this.waits.median(now), this.handOffs.median(now)];
    return { grants, losses, waitMs, handOffMs, busiest: this.#busiest(now) };
  }

  #busiest(now: number): readonly BusyName[] {
    return [...this.#byName]
      .map(([name, own]): BusyName => ({ name, grants: own.total(now) }))
      .filter(({ grants }) => grants > 0)
      .sort((a, b) => b.grants - a.grants || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_BUSIEST);
  }
}

/** How often something happened in the last minute, in buckets of a second. */
class CountBySecond {
  readonly #bySecond = new Map<number, number>();

  add(at: number): void {
    const second = Math.floor(at / 1_000);
    this.#bySecond.set(second, (this.#bySecond.get(second) ?? 0) + 1);
    keepNewest(this.#bySecond, WINDOW_S);
  }

  total(now: number): number {
    const first = Math.floor(now / 1_000) - WINDOW_S + 1;
    let total = 0;
    for (const [second, times] of this.#bySecond) total += second >= first ? times : 0;
    return total;
  }
}

/** How long something took in the last minute. */
class Samples {
  #all: { readonly at: number; readonly ms: number }[] = [];

  add(at: number, ms: number): void {
    this.#all.push({ at, ms });
    if (this.#all.length > 2 * MAX_SAMPLES) this.#all = this.#all.slice(-MAX_SAMPLES);
  }

  median(now: number): number | null {
    const recent = this.#all.filter(({ at }) => now - at < WINDOW_S * 1_000);
    const sorted = recent.map(({ ms }) => ms).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? null;
  }
}

/** Deletes what was put in first, until this many are left. */
export function keepNewest<K>(all: Set<K> | Map<K, unknown>, most: number): void {
  for (const oldest of all.keys()) {
    if (all.size <= most) return;
    all.delete(oldest);
  }
}
