import type { Clock } from '../../clock.ts';

/** What is idle does no harm, so once a minute is often enough for each process. */
const EVERY_MS = 60_000;

/** Clears up in the background, as often as is good, whatever becomes of it. */
export class Sweeper {
  readonly #clock: Clock;
  readonly #sweep: () => Promise<unknown>;
  #nextAt: number;

  constructor(clock: Clock, sweep: () => Promise<unknown>) {
    this.#clock = clock;
    this.#sweep = sweep;
    // Processes that began together do not sweep together, and one that is soon over never does.
    this.#nextAt = clock.now() + EVERY_MS * (0.5 + clock.random() / 2);
  }

  /** Somebody uses the store. */
  due(): void {
    const now = this.#clock.now();
    if (now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS;
    // The next one, or that of another process, does what this one leaves.
    this.#sweep().catch(() => {});
  }
}
