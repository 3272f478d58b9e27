/**
 * Clears up in the background, ignoring failures.
 *
 * Each call sweeps one portion, and its reply says whether there is more. The session of the claims
 * sweeps the first portion, once a minute; if there is more, a session of its own goes on until the
 * round is over, so that claims do not wait and no rate of new names is too high. It works for a
 * quarter of the time, which leaves the server to others. The database lets one process sweep at a
 * time.
 * What would break it: a portion that takes long, or stopping while there is more.
 */
import type { Clock } from '../../base/clock.ts';
import type { SqlLink } from './link.ts';

/** Idle names do no harm, so once a minute is often enough for each process. */
const EVERY_MS = 60_000;

/** The rest after each portion, as a multiple of the time that it took. */
const REST = 3;

export class Sweeper {
  readonly #clock: Clock;
  readonly #link: SqlLink;
  #nextAt: number;

  constructor(clock: Clock, link: SqlLink) {
    this.#clock = clock;
    this.#link = link;
    // Processes that began together do not sweep together, and a short-lived one never does.
    this.#nextAt = clock.now() + EVERY_MS * (0.5 + clock.random() / 2);
  }

  /** Called when the store is used. */
  due(): void {
    if (this.#clock.now() < this.#nextAt) return;
    this.#nextAt = Number.POSITIVE_INFINITY;
    const over = (): void => {
      this.#nextAt = this.#clock.now() + EVERY_MS;
    };
    // The next sweep, here or in another process, goes on where this one ends.
    this.#sweep().then(over, over);
  }

  async #sweep(): Promise<void> {
    const first = await this.#link.call('sweep', [], { lane: 'claims' });
    if (first.length === 0) return;
    const session = this.#link.aside();
    try {
      for (let more = true; more; ) {
        const since = this.#clock.now();
        more = (await session.call('sweep', [])).length > 0;
        if (more) await this.#rest((this.#clock.now() - since) * REST);
      }
    } finally {
      session.close();
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimeout(resolve, ms).unref();
    });
  }
}
