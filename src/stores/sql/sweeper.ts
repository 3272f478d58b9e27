/**
 * Clears up in the background, ignoring failures: rows that have been of no use for ten minutes,
 * and records that are over.
 *
 * Each process walks through all names once in a while, a portion at a time, on a session of its
 * own, for a quarter of the time. Locked rows stay for the next round. Before rows go, `highest`
 * rises above the numbers that they may have given, so that none is given again if the clock goes
 * back. A row with waiters goes later than others by the longest ttl: behind a holder that is dead
 * for so long, no claim has lived for a ttl.
 * What would break it: a row that goes before `highest` is committed.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import type { Table } from './table.ts';

const EVERY_MS = 120_000;
const IDLE_MS = 600_000;
const PORTION = 500;
/** The rest after each portion, as a multiple of the time that it took. */
const REST = 3;

export class Sweeper {
  readonly #clock: Clock;
  readonly #table: Table;
  #nextAt: number;

  constructor(clock: Clock, table: Table) {
    this.#clock = clock;
    this.#table = table;
    // Processes that began together do not sweep together, and a short-lived one never does.
    this.#nextAt = clock.now() + EVERY_MS * (0.5 + clock.random() / 2);
  }

  /** Called when the store is used. */
  due(): void {
    if (this.#clock.now() < this.#nextAt) return;
    this.#nextAt = Number.POSITIVE_INFINITY;
    const over = (): void => {
      this.#nextAt = this.#clock.now() + EVERY_MS * (0.5 + this.#clock.random());
    };
    this.sweep().then(over, over);
  }

  /** One round; a program has no reason to call it. */
  async sweep(idleMs: number = IDLE_MS): Promise<void> {
    const idle = String(idleMs * 1000);
    const session = this.#table.link.aside();
    try {
      await session.call('raise_highest', [idle]);
      for (let name: string | undefined = ''; name !== undefined; ) {
        const since = this.#clock.now();
        // The last name of the portion, if there are more.
        [name] = await session.call('sweep', [name, String(PORTION), idle]);
        const tookMs = this.#clock.now() - since;
        if (name !== undefined) await sleep(this.#clock, tookMs * REST, undefined, true);
      }
    } finally {
      session.close();
    }
  }
}
