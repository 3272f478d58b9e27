/** How long, and how often, to ask for a row that other sessions keep locked. */
import type { Clock } from '../../base/clock.ts';

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 30;

/** A heartbeat that fails must not be the last one. */
const PER_TTL = 1 / 6;
/** Bounds the patience of TTLs above 12 s. */
const LONGEST_MS = 2000;

/** Whole ms, at least 1. */
export function patienceFor(ttlMs: number): number {
  return Math.max(1, Math.floor(Math.min(ttlMs * PER_TTL, LONGEST_MS)));
}

/** By chance, so that callers do not retry at the same moment. */
export function pause(clock: Clock, tries: number): Promise<void> {
  const ms = Math.min(SHORTEST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms * (0.5 + clock.random() / 2));
  });
}
