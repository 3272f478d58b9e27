/** What all fences have in common: whom they let in, and what they say to the others. */

import { UsageError } from '../base/errors.ts';
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../base/names.ts';
import { reading } from '../base/options.ts';
import { show } from '../base/show.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { Kind } from '../contract/store.ts';
import type { FencingToken } from '../contract/token.ts';
import { StaleTokenError } from './errors.ts';

/** A token as `lease`, or as text that came from another process. */
export type EnterToken = Omit<FencingToken, 'token'> & { readonly token: bigint | string };

/** What the fence has seen. */
export interface Seen {
  readonly lineage: string;
  /** The greatest of a writer. */
  readonly token: bigint;
  /** The greatest of a reader. */
  readonly floor: bigint;
}

export function stale(
  { resource, lineage, kind, token }: FencingToken,
  seen: Seen,
): StaleTokenError {
  const other =
    seen.lineage === lineage
      ? ''
      : ` It came from another store, ${seen.lineage}; this one's tokens come from ${lineage}.`;
  const newest = kind === 'read' || seen.token > seen.floor ? seen.token : seen.floor;
  return new StaleTokenError(resource, token, newest, other);
}

/** @throws UnsupportedError */
export function checkKind({ kind }: FencingToken): void {
  if (kind === 'permits') {
    throw new UnsupportedError('fence', 'Permits cannot be fenced: their holders are equals.');
  }
}

const KINDS: readonly Kind[] = ['mutex', 'read', 'write', 'permits'];

/**
 * What came with a request may be anything.
 * @throws UsageError
 */
export function readLease(lease: EnterToken): FencingToken {
  return reading('The lease', () => {
    const { resource, lineage, kind, token } = lease;
    checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
    checkName(lineage, 'lineage');
    if (kind !== undefined && !KINDS.includes(kind)) {
      throw new UsageError(`The kind of a lease is one of ${KINDS.join(', ')}, not ${show(kind)}.`);
    }
    return { resource, lineage, kind, token: checkToken(token) };
  });
}

/** The largest integer of SQLite, PostgreSQL and MySQL. */
const MAX_TOKEN = 2n ** 63n - 1n;

function checkToken(token: bigint | string): bigint {
  const value = typeof token === 'string' && /^[1-9]\d{0,18}$/.test(token) ? BigInt(token) : token;
  if (typeof value === 'bigint' && value > 0n && value <= MAX_TOKEN) return value;
  throw new UsageError(`A fencing token is a positive bigint, or one as text, not ${show(token)}.`);
}
