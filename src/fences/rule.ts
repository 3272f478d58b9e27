/**
 * The rule of every fence: which holder may enter, and what the fence has then seen. Databases and
 * Redis apply it themselves, in SQL and in Lua; for other services it is text, compared and set.
 */
import { UsageError } from '../base/errors.ts';
import type { FencingToken } from '../contract/token.ts';
import { StaleTokenError } from './errors.ts';
import type { FenceVerb } from './fence.ts';

export interface SeenToken {
  readonly lineage: string;
  /** The greatest token of a writer. */
  readonly token: bigint;
  /** The greatest token of a reader. */
  readonly floor: bigint;
}

/**
 * What the fence has seen once this holder has entered. `adopt` does not read the old text.
 * @throws StaleTokenError if a newer one was here.
 */
export function raised(
  verb: FenceVerb,
  mine: FencingToken,
  known: () => SeenToken | undefined,
): SeenToken {
  const { lineage, kind, token } = mine;
  if (verb === 'adopt') return { lineage, token, floor: 0n };
  const seen = known() ?? { lineage, token: 0n, floor: 0n };
  const reads = kind === 'read';
  if (seen.lineage !== lineage || seen.token > token || (!reads && seen.floor > token)) {
    throw stale(mine, seen);
  }
  if (!reads) return { ...seen, token };
  return { ...seen, floor: seen.floor > token ? seen.floor : token };
}

export function stale(mine: FencingToken, seen: SeenToken): StaleTokenError {
  const { resource, lineage, kind, token } = mine;
  const other =
    seen.lineage === lineage
      ? ''
      : ` It came from another store, ${seen.lineage}; this one's tokens come from ${lineage}.`;
  const newest = kind === 'read' || seen.token > seen.floor ? seen.token : seen.floor;
  return new StaleTokenError(resource, token, newest, other);
}

/** Why an entry is over; the same holder may have entered again. */
export function enteredSince(mine: FencingToken, seen: SeenToken): StaleTokenError {
  const { lineage, token } = mine;
  const again = seen.lineage === lineage && seen.token === token && seen.floor <= token;
  return again ? over(mine) : stale(mine, seen);
}

/** An entry is over, although the fence shows no newer holder. */
export function over(
  { resource, token }: FencingToken,
  seen: bigint = token,
  why: string = 'The fence has been entered again since.',
): StaleTokenError {
  return new StaleTokenError(resource, token, seen, ` ${why}`);
}

export function textOf({ lineage, token, floor }: SeenToken): string {
  return JSON.stringify({ lineage, token: String(token), floor: String(floor) });
}

/** `where` is the place for the message: `The key "a"`. */
export function seenIn(text: string, where: string): SeenToken {
  try {
    const { lineage, token, floor } = JSON.parse(text) as Record<keyof SeenToken, string>;
    if (typeof lineage === 'string') return { lineage, token: BigInt(token), floor: BigInt(floor) };
  } catch {
    // The error below reports it.
  }
  throw new UsageError(`${where} is not a fence: something else has written it.`);
}
