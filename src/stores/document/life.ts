/**
 * By which clock claims in a document end: the service's, or that of each process that looks.
 *
 * Told (`serviceTime`): the last reply said `nowMs`, and was written between the sending of its
 * request and its arrival. So the service's time is at least `nowMs` plus the time since the
 * arrival, and at most `nowMs` plus the time since the sending, each with room for the rate of this
 * clock. A life counts from the upper estimate at the sending, so the holder's own count cannot
 * outlast it; it has ended when the lower estimate, less the slack between two servers of the
 * service, reaches its end.
 * Observed (`watchedTime`): no clock is common, and none is compared. Each sign of life raises the
 * `beat` of its claim. A reader counts from the reply that first showed a sign. If it stays the
 * same for the life of the claim, and 1 % more for the rates of clocks, the holder's own count is
 * over too, because it began earlier, when the holder sent the write. A process counts for its own
 * claims from its last write that brings the sign into the text.
 * What would break it: a reply that is older than its request (a cache), a clock of the service
 * that is wrong by more than its slack, a rate that is off by more than 1 %, or a sign that comes
 * again: a claim that died and enters anew begins with its first beat, but has another number.
 */
import type { Clock } from '../../base/clock.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Entry } from '../../queue/state.ts';

/** How much faster one clock may run than another: 1 %. */
const DRIFT = 0.01;

/** When claims end by this process's clock, by `signOf` their last sign of life. */
export interface Signs {
  /** When this process sent its writes; the last try of each counts. */
  readonly sent: Map<string, number>;
  /** When a reply first showed the signs of all others. */
  readonly seen: Map<string, number>;
}

export function signOf({ id, number, beat }: Pick<Entry, 'id' | 'number' | 'beat'>): string {
  return `${id} ${number} ${beat}`;
}

export interface DocumentLife {
  /** In the text, because all must go by the same. */
  readonly clock: 'service' | 'observed';
  /** Takes the time in a reply to a request that was sent then. @throws StoreError without one. */
  saw(nowMs: number | undefined, sentAt: number): void;
  /** The time by which claims end, and by how much it may be later; in epoch ms. */
  time(): { readonly now: number; readonly lead: number };
  /** Dates the ends of claims that have just been read, and forgets other signs. */
  date(claims: Iterable<Entry>, signs: Signs): void;
}

export function lifeOf(clock: Clock, slackMs: number | undefined): DocumentLife {
  return slackMs === undefined ? watchedTime(clock) : serviceTime(clock, slackMs);
}

function serviceTime(clock: Clock, slackMs: number): DocumentLife {
  let last = { nowMs: 0, sentAt: 0, arrivedAt: 0 };
  return {
    clock: 'service',
    saw(nowMs, sentAt) {
      if (typeof nowMs !== 'number' || !Number.isFinite(nowMs)) {
        const message = 'The service has slackMs, but a reply without its time.';
        throw new StoreError(message, { retryable: false, outcome: 'unknown' });
      }
      last = { nowMs, sentAt, arrivedAt: clock.now() };
    },
    time() {
      const { nowMs, sentAt, arrivedAt } = last;
      const at = clock.now();
      const now = nowMs + (at - arrivedAt) * (1 - DRIFT) - slackMs;
      return { now, lead: nowMs + (at - sentAt) * (1 + DRIFT) - now };
    },
    date() {},
  };
}

function watchedTime(clock: Clock): DocumentLife {
  // Makes this process's own clock, which cannot be set, look like that on the wall.
  const origin = Date.now() - clock.now();
  return {
    clock: 'observed',
    saw() {},
    time: () => ({ now: origin + clock.now(), lead: 0 }),
    date(claims, { sent, seen }) {
      const now = origin + clock.now();
      const current = new Set<string>();
      for (const entry of claims) {
        const sign = signOf(entry);
        current.add(sign);
        const known = sent.get(sign) ?? seen.get(sign);
        entry.expiresAt = known ?? now + entry.lifeMs * (1 + DRIFT);
        if (known === undefined) seen.set(sign, entry.expiresAt);
      }
      for (const signs of [sent, seen]) {
        for (const sign of signs.keys()) if (!current.has(sign)) signs.delete(sign);
      }
    },
  };
}
