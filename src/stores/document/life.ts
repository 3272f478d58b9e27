/**
 * By which clock claims in a document end: the service's, or that of each process that looks.
 *
 * Told (`ServiceTime`): the last reply said `nowMs`, and was written between the sending of its
 * request and its arrival. So the service's time is at least `nowMs` plus the time since the
 * arrival, and at most `nowMs` plus the time since the sending, each with room for the rate of this
 * clock. A life counts from the upper estimate at the sending, so the holder's own count cannot
 * outlast it; it has ended when the lower estimate, less the slack between two servers of the
 * service, reaches its end.
 * Observed (`WatchedTime`): no clock is common, and none is compared. Each sign of life raises the
 * `beat` of its claim. A reader counts from the reply that first showed a beat. If the beat stays
 * the same for the life of the claim, and 1 % more for the rates of clocks, the holder's own count
 * is over too, because it began earlier, when the holder sent the write. A process knows when it
 * sent the writes of its own claims.
 * What would break it: a reply that is older than its request (a cache), a clock of the service
 * that is wrong by more than its slack, or a rate that is off by more than 1 %.
 */
import type { Clock } from '../../base/clock.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Entry } from '../../queue/entry.ts';

/** How much faster one clock may run than another: 1 %. */
const DRIFT = 0.01;

/** When claims end by this process's clock, by `signOf` their last sign of life. */
export interface Signs {
  /** When this process sent its writes; the first try of each counts. */
  readonly sent: ReadonlyMap<string, number>;
  /** When a reply first showed the signs of all others. */
  readonly seen: Map<string, number>;
}

export function signOf({ id, beat }: Pick<Entry, 'id' | 'beat'>): string {
  return `${id} ${beat}`;
}

export interface DocumentLife {
  /** In the text, because all must go by the same. */
  readonly clock: 'service' | 'observed';
  /** Takes the time in a reply to a request that was sent then. @throws StoreError without one. */
  saw(nowMs: number | undefined, sentAt: number): void;
  /** The time by which claims end, and by how much it may be later; in epoch ms. */
  time(): { readonly now: number; readonly lead: number };
  /** Dates the ends of claims that have just been read. */
  date(claims: Iterable<Entry>, signs: Signs): void;
}

export function lifeOf(clock: Clock, slackMs: number | undefined): DocumentLife {
  return slackMs === undefined ? new WatchedTime(clock) : new ServiceTime(clock, slackMs);
}

class ServiceTime implements DocumentLife {
  readonly clock = 'service';
  readonly #clock: Clock;
  readonly #slackMs: number;
  #last = { nowMs: 0, sentAt: 0, arrivedAt: 0 };

  constructor(clock: Clock, slackMs: number) {
    this.#clock = clock;
    this.#slackMs = slackMs;
  }

  saw(nowMs: number | undefined, sentAt: number): void {
    if (typeof nowMs !== 'number' || !Number.isFinite(nowMs)) {
      const message = 'The service has slackMs, but a reply without its time.';
      throw new StoreError(message, { retryable: false, outcome: 'unknown' });
    }
    this.#last = { nowMs, sentAt, arrivedAt: this.#clock.now() };
  }

  time(): { readonly now: number; readonly lead: number } {
    const { nowMs, sentAt, arrivedAt } = this.#last;
    const at = this.#clock.now();
    const now = nowMs + (at - arrivedAt) * (1 - DRIFT) - this.#slackMs;
    return { now, lead: nowMs + (at - sentAt) * (1 + DRIFT) - now };
  }

  date(): void {}
}

class WatchedTime implements DocumentLife {
  readonly clock = 'observed';
  readonly #clock: Clock;
  /** Makes this process's own clock, which cannot be set, look like that on the wall. */
  readonly #origin: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#origin = Date.now() - clock.now();
  }

  saw(): void {}

  time(): { readonly now: number; readonly lead: number } {
    return { now: this.#origin + this.#clock.now(), lead: 0 };
  }

  date(claims: Iterable<Entry>, { sent, seen }: Signs): void {
    const { now } = this.time();
    const current = new Set<string>();
    for (const entry of claims) {
      const sign = signOf(entry);
      current.add(sign);
      const known = sent.get(sign) ?? seen.get(sign);
      entry.expiresAt = known ?? now + entry.lifeMs * (1 + DRIFT);
      if (known === undefined) seen.set(sign, entry.expiresAt);
    }
    for (const sign of seen.keys()) if (!current.has(sign)) seen.delete(sign);
  }
}
