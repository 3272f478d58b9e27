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
