import type { Linked } from '../base/fifo.ts';
import type { Claim, GoneStatus, Holder, Kind, Takeover } from '../contract/store.ts';

/** A claim in a queue. Times are on the clock that the steps are given. */
export interface Entry extends Linked<Entry> {
  readonly id: string;
  /** Its place and its token; a new one if it was admitted after a greater one had been. */
  number: bigint;
  kind: Kind;
  permits: number;
  readonly limit: number;
  readonly ttlMs: number;
  readonly holder: Holder;
  admitted: boolean;
  /** It knows that it is the first waiter. */
  first: boolean;
  expiresAt: number;
  /** Counts its signs of life, for readers who cannot compare `expiresAt` with their own clock. */
  beat: number;
  /** How long it lives after the last of them. */
  lifeMs: number;
  /** Is admitted even while the queue is closed. */
  trusts: boolean;
  /** Takes no more heartbeats: evicted, or released with `after`. */
  sealed: GoneStatus | undefined;
  takeover: Takeover | undefined;
}

/** A claim that arrives: it waits, and lives until then. */
export function entryOf(claim: Claim, number: bigint, expiresAt: number): Entry {
  const { id, kind, permits, limit, ttlMs, holder } = claim;
  return {
    id,
    number,
    kind,
    permits,
    limit,
    ttlMs,
    holder,
    admitted: false,
    first: false,
    expiresAt,
    beat: 1,
    lifeMs: ttlMs,
    trusts: false,
    sealed: undefined,
    takeover: undefined,
    previous: undefined,
    next: undefined,
  };
}
