import type { Kind } from './store.ts';

/** What a fence needs to know of a lease; a remote service may be sent it as text. */
export interface FencingToken {
  /** The full name, prefix included: one fence key has one lock name. */
  readonly resource: string;
  /** Names the source of tokens; those of different lineages do not compare. */
  readonly lineage: string;
  /** Grows from holder to holder. */
  readonly token: bigint;
  /** Default: exclusive. Readers are only kept behind writers; permits cannot be fenced. */
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
