import type { Clock, Timer } from '../base/clock.ts';

/** At most one timer: setting it again forgets the one before. */
export class OneTimer {
  readonly #clock: Clock;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(run: () => void, ms: number): void {
    this.clear();
    this.#timer = this.#clock.setTimeout(run, Math.max(0, Math.ceil(ms)));
  }

  clear(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  unref(): void {
    this.#timer?.unref();
  }
}
