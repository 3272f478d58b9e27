/**
 * Notices when a server's clock jumps: forward, claims end before their time, and only a fence
 * keeps two holders apart; back, claims outlive their holders.
 *
 * A reply gives the server's time at some moment between sending and receiving, so the difference
 * of the clocks lies in an interval. If the intervals of two successive replies lie further apart
 * than clocks of different rates explain, one of the clocks has jumped, and ours is monotonic.
 */
import { systemClock } from '../../base/clock.ts';

/** Smaller jumps, in ms, are ordinary corrections; the margins make them harmless. */
const JUMP_MS = 100;

/** What clocks may gain on each other, as a share: more than any real clock does. */
const RATE = 0.01;

interface Sight {
  readonly at: number;
  readonly least: number;
  readonly most: number;
}

export class ClockWatch {
  readonly #clock = systemClock();
  readonly #jumped: (ms: number) => void;
  readonly #last = new Map<string, Sight>();

  constructor(jumped: (ms: number) => void) {
    this.#jumped = jumped;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Takes a reply to what was sent at `sentAt`; each `server` has a clock of its own. */
  see(server: string, serverMs: number, sentAt: number): void {
    const at = this.#clock.now();
    const sight = { at, least: serverMs - at, most: serverMs + 1 - sentAt };
    const last = this.#last.get(server);
    this.#last.set(server, sight);
    if (!last) return;
    const slack = JUMP_MS + (at - last.at) * RATE;
    if (sight.least > last.most + slack) this.#jumped(sight.least - last.most);
    else if (sight.most < last.least - slack) this.#jumped(sight.most - last.least);
  }
}
