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
import type { Sender } from './batcher.ts';
import { TRIES_PER_TTL } from './time-limit.ts';

const FIRST_PAUSE_MS = 25;

export class Releases {
  readonly #senderFor: (afterMs: number) => Sender<boolean>;
  readonly #clock: Clock;
  /** Releases that wait for a reply, and what core keeps open. */
  readonly underway: Underway = new Underway();
  #closed = false;

  /** @param senderFor returns a sender of releases that take effect this many ms later. */
  constructor(senderFor: (afterMs: number) => Sender<boolean>, clock: Clock) {
    this.#senderFor = senderFor;
    this.#clock = clock;
  }

  /** Sends no more: the store is about to close. */
  close(): void {
    this.#closed = true;
  }

  /** Resolves after the first try; never rejects. */
  send(claim: Claim, afterMs = 0): Promise<void> {
    const sender = this.#senderFor(afterMs);
    const lifeMs = Math.max(claim.ttlMs, afterMs);
    return new Promise((resolve) => this.#try(claim, { sender, lifeMs, failures: 0, resolve }));
  }

  #try(claim: Claim, attempt: ReleaseAttempt): void {
    const { sender, resolve } = attempt;
    if (this.#closed) return resolve();
    this.underway.begin();
    const settle = (_: boolean | undefined, error: StoreError | undefined): void => {
      resolve();
      if (error) this.#repeat(claim, attempt);
      this.underway.end();
    };
    sender.send(claim, { settle });
  }

  #repeat(claim: Claim, attempt: ReleaseAttempt): void {
    if (this.#closed) return;
    const now = this.#clock.now();
    const { failures, until = now + attempt.lifeMs } = attempt;
    const pause = pauseBefore(this.#clock, claim, failures);
    if (now + pause >= until) return;
    const next = { ...attempt, failures: failures + 1, until };
    this.#clock.setTimeout(() => this.#try({ ...claim, unanswered: true }, next), pause).unref();
  }
}

interface ReleaseAttempt {
  readonly sender: Sender<boolean>;
  /** For how long the claim may live on if it is not released. */
  readonly lifeMs: number;
  readonly failures: number;
  /** When the TTL has ended the claim; known after the first failure. */
  readonly until?: number | undefined;
  readonly resolve: () => void;
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
