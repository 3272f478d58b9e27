/**
 * Claims do not share a fate, though they share a call: when one of their rows is locked by
 * somebody who stands still, the call fails for all of them. They are then asked about in ever
 * smaller parts, with hardly any patience, for that has been had; in the end whose row is locked
 * fails alone. One row that is locked costs two calls for each time that the batch can be halved,
 * and the others have their heartbeats within the patience of one.
 */
import type { StoreError } from '../../errors.ts';
import type { Claim } from '../../store.ts';

/** Asks about some of them, waiting so long for a lock at most: a line for each. */
export type Ask = (claims: readonly Claim[], patienceMs: number) => Promise<readonly string[]>;

const HARDLY_MS = 1;

const blocked = new WeakSet<StoreError>();

/** Remembers that this error means that a row was locked for too long, and nothing happened. */
export function markBlocked(error: StoreError): void {
  blocked.add(error);
}

/**
 * A line or an error for each claim.
 * @throws StoreError for all of them.
 */
export async function askApart(
  claims: readonly Claim[],
  patienceMs: number,
  ask: Ask,
): Promise<readonly (string | StoreError)[]> {
  try {
    return await ask(claims, patienceMs);
  } catch (error) {
    if (claims.length === 1 || !blocked.has(error as StoreError)) throw error;
  }
  const middle = claims.length >> 1;
  return [
    ...(await part(claims.slice(0, middle), ask)),
    ...(await part(claims.slice(middle), ask)),
  ];
}

/** An error is theirs alone: the others may have been answered. */
function part(claims: readonly Claim[], ask: Ask): Promise<readonly (string | StoreError)[]> {
  return askApart(claims, HARDLY_MS, ask).catch((error: StoreError) => claims.map(() => error));
}
