/**
 * The rule of a fence whose server compares and sets, and does not compute: what is there, as text,
 * and what the next one makes of it.
 */

import { UsageError } from '../base/errors.ts';
import type { FencingToken } from '../contract/token.ts';
import { type Seen, stale } from './entering.ts';
import { StaleTokenError } from './errors.ts';

/**
 * What the fence has seen once this one has entered.
 * @throws StaleTokenError if a newer one was here.
 */
export function raised(mine: FencingToken, known: Seen | undefined): Seen {
  const { lineage, kind, token } = mine;
  const seen = known ?? { lineage, token: 0n, floor: 0n };
  const reads = kind === 'read';
  if (seen.lineage !== lineage || seen.token > token || (!reads && seen.floor > token)) {
    throw stale(mine, seen);
  }
  if (!reads) return { ...seen, token };
  return { ...seen, floor: seen.floor > token ? seen.floor : token };
}

/** Somebody has entered since this one, who may be the same. */
export function enteredSince(mine: FencingToken, seen: Seen): StaleTokenError {
  const { resource, lineage, token } = mine;
  const again = seen.lineage === lineage && seen.token === token && seen.floor <= token;
  if (!again) return stale(mine, seen);
  return new StaleTokenError(resource, token, token, ' It has been entered anew since.');
}

export function textOf({ lineage, token, floor }: Seen): string {
  return JSON.stringify({ lineage, token: String(token), floor: String(floor) });
}

/**
 * `where` it stands is for the message: `The key "a"`.
 * @throws UsageError
 */
export function seenIn(text: string, where: string): Seen {
  try {
    const { lineage, token, floor } = JSON.parse(text) as Record<keyof Seen, string>;
    if (typeof lineage === 'string') {
      return { lineage, token: BigInt(token), floor: BigInt(floor) };
    }
  } catch {
    // What it is stands in the error.
  }
  throw new UsageError(`${where} is not a fence: something else has written it.`);
}
