/**
 * Leaving a queue, whatever the store does.
 *
 * Invariant: the caller waits for one try at most, and the claim is gone from the store at the
 * latest when its TTL has run out. Release is idempotent, so a failed one is repeated in the
 * background; from the second try on it leaves a tombstone, because the first may be late rather
 * than lost. Repeating ends when the TTL has ended the claim.
 * What would break it: sending further heartbeats for a claim that is leaving.
 */
import type { Clock } from '../base/clock.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim } from '../contract/store.ts';
import type { Caller, Sender } from './batcher.ts';
import { TRIES_PER_TTL } from './time-limit.ts';

const FIRST_PAUSE_MS = 25;

export class Releases {
  readonly clock: Clock;
  readonly #senderFor: (afterMs: number) => Sender<boolean>;
  /** Releases that wait for a reply, and what core keeps open. */
  readonly underway: Underway = new Underway();
  /** Sends no more: the store is about to close. */
  closed = false;

  /** @param senderFor returns a sender of releases that take effect this many ms later. */
  constructor(senderFor: (afterMs: number) => Sender<boolean>, clock: Clock) {
    this.#senderFor = senderFor;
    this.clock = clock;
  }

  /**
   * Returns a promise unless the first try is over by then; it resolves after that, and never
   * rejects. `now`: what the clock has just been read to say, if it was.
   */
  send(claim: Claim, afterMs = 0, now?: number): Promise<void> | undefined {
    if (this.closed) return undefined;
    const release = new ClaimRelease(this, this.#senderFor(afterMs), claim, afterMs);
    release.try(now);
    if (release.tried) return undefined;
    return new Promise((resolve) => {
      release.resolve = resolve;
    });
  }
}

/** One object for all tries, one after the other. */
class ClaimRelease implements Caller<boolean> {
  readonly #releases: Releases;
  readonly #sender: Sender<boolean>;
  #claim: Claim;
  /** For how long the claim may live on if it is not released. */
  readonly #lifeMs: number;
  #failures = 0;
  /** When the TTL has ended the claim; known after the first failure. */
  #until: number | undefined;
  tried = false;
  /** Called after the first try. */
  resolve: (() => void) | undefined;

  constructor(releases: Releases, sender: Sender<boolean>, claim: Claim, afterMs: number) {
    this.#releases = releases;
    this.#sender = sender;
    this.#claim = claim;
    this.#lifeMs = Math.max(claim.ttlMs, afterMs);
  }

  try(now?: number): void {
    if (this.#releases.closed) return;
    this.#releases.underway.begin();
    this.#sender.send(this.#claim, this, now);
  }

  settle(_: boolean | undefined, error: StoreError | undefined): void {
    this.tried = true;
    this.resolve?.();
    if (error) this.#repeat();
    this.#releases.underway.end();
  }

  #repeat(): void {
    const { clock, closed } = this.#releases;
    if (closed) return;
    const now = clock.now();
    this.#until ??= now + this.#lifeMs;
    const pause = pauseBefore(clock, this.#claim, this.#failures++);
    if (now + pause >= this.#until) return;
    this.#claim = { ...this.#claim, unanswered: true };
    clock.setTimeout(() => this.try(), pause).unref();
  }
}

/**
 * The pause before a claim or a release is tried again, after this many failures, in ms: from 25 up
 * to a third of the TTL, half of it chance.
 */
export function pauseBefore(clock: Clock, claim: Claim, failures: number): number {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** failures, claim.ttlMs / TRIES_PER_TTL);
  return ms * (0.5 + clock.random() / 2);
}

/** Counts what is under way, and tells one listener when nothing is. */
export class Underway {
  #count = 0;
  #done: (() => void) | undefined;

  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count === 0) this.#done?.();
  }

  none(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve;
      if (this.#count === 0) resolve();
    });
  }
}
