import type { Kind } from './store.ts';

/** The part of a lease that a fence needs; it can be sent to a remote service as text. */
export interface FencingToken {
  /** The full name, prefix included: one fence key has one lock name. */
  readonly resource: string;
  /** Names the source of tokens; tokens of different lineages do not compare. */
  readonly lineage: string;
  /** Grows from holder to holder. */
  readonly token: bigint;
  /** Default: exclusive. A reader shuts out older writers only; permits cannot be fenced. */
  readonly kind?: Kind | undefined;
}

/** Fencing tokens of one claim: its number times this, and the next ones for local hand-offs. */
export const STEP = 1024;

/** The fencing token of the `nth` lease on the claim with this number. */
export function tokenOf(number: bigint, nth = 0): bigint {
  return number * BigInt(STEP) + BigInt(nth);
}

/** The number of the claim that a token was made from. */
export function numberOf(token: bigint): bigint {
  return token / BigInt(STEP);
}
