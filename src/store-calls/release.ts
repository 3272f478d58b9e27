/**
 * Leaving a queue, whatever the store does.
 *
 * Invariant: the one who leaves waits for one try at most, and the claim is gone from the store at
 * the latest when its TTL has run out. Release is idempotent, so a failed one is simply repeated in
 * the background; from the second try on it leaves a tombstone, because the first may be late
 * rather than lost. Repeating ends when the TTL has done the work.
 * What would break it: to go on sending heartbeats for a claim that is leaving.
 */
import type { Clock } from '../base/clock.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim } from '../contract/store.ts';
import type { Core } from '../core/engine.ts';
import { TRIES_PER_TTL } from './time-limit.ts';

const FIRST_PAUSE_MS = 25;

/** Ends a claim, now or `afterMs` from now. Resolves after the first try; never rejects. */
export function depart(core: Core, claim: Claim, afterMs: number): Promise<void> {
  let until: number | undefined;
  return new Promise((resolve) => attempt(claim, 0, resolve));

  function attempt(leaving: Claim, failures: number, first: () => void): void {
    core.depart(leaving, afterMs, (error: StoreError | undefined) => {
      first();
      if (!error || core.storeClosed()) return;
      const now = core.clock.now();
      until ??= now + Math.max(claim.ttlMs, afterMs);
      const pause = pauseBefore(core.clock, claim, failures);
      if (now + pause >= until) return;
      const again = (): void => attempt({ ...claim, unanswered: true }, failures + 1, first);
      core.clock.setTimeout(again, pause).unref();
    });
  }
}

/** The pause after so many failures, in ms: from 25 up to a third of the TTL, half of it chance. */
export function pauseBefore(clock: Clock, claim: Claim, failures: number): number {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** failures, claim.ttlMs / TRIES_PER_TTL);
  return ms * (0.5 + clock.random() / 2);
}
