/** The common part of all fences: their interface, and the leases that they take. */
import { UsageError } from '../base/errors.ts';
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../base/names.ts';
import { show } from '../base/show.ts';
import { KINDS } from '../contract/admission.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { FencingToken } from '../contract/token.ts';

/** A lease's token, or one as text from another process. */
export type EnterToken = Omit<FencingToken, 'token'> & { readonly token: bigint | string };

/**
 * A fence beside the guarded data. `Through` leads to the data: a transaction, a client, a session.
 * `Entered` may read and write until another entry is made.
 */
export interface Fence<Through, Entered> {
  /**
   * Raises the fence to this token. Call it before you read anything that the lock guards.
   * @throws StaleTokenError if a newer holder was here.
   * @throws UsageError, UnsupportedError for permits, StoreError; TransactionError in SQL.
   */
  enter(through: Through, lease: EnterToken): Entered;
  /**
   * Enters whatever the fence has seen, and makes it follow this lease's lineage from now on. An
   * operator does this after locks have moved to another store, with all other holders stopped.
   */
  adopt(through: Through, lease: EnterToken): Entered;
}

/** Writes for a holder that has entered, where no transaction stays open. */
export interface FenceEntry<Write, Done> {
  /**
   * Writes in one step with the check that no other entry was made since.
   * @throws StaleTokenError if another entry was made: nothing is written.
   * @throws StoreError: if its `outcome` is `unknown`, it may have been written.
   * @throws UsageError, unsent; also if a reader would write.
   */
  write(what: Write): Promise<Done>;
}

export type FenceVerb = keyof Fence<unknown, unknown>;

export function fenceOf<Through, Entered>(
  take: (verb: FenceVerb, through: Through, lease: EnterToken) => Entered,
): Fence<Through, Entered> {
  return {
    enter: (through, lease) => take('enter', through, lease),
    adopt: (through, lease) => take('adopt', through, lease),
  };
}

/** Checks a lease, which may come from a request. @throws UsageError */
export function readLease(lease: EnterToken): FencingToken {
  if (typeof lease !== 'object' || lease === null) {
    throw new UsageError(`A fence takes a lease, not ${show(lease)}.`);
  }
  if ('then' in lease) throw new UsageError('A fence takes a lease, not a promise: await it.');
  const { resource, lineage, kind, token } = lease;
  checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
  checkName(lineage, 'lineage');
  if (kind !== undefined && !KINDS.includes(kind)) {
    throw new UsageError(
      `The kind of a lease must be one of ${KINDS.join(', ')}, not ${show(kind)}.`,
    );
  }
  return { resource, lineage, kind, token: checkToken(token) };
}

/** @throws UsageError, UnsupportedError */
export function fenced(lease: EnterToken): FencingToken {
  const token = readLease(lease);
  if (token.kind !== 'permits') return token;
  throw new UnsupportedError('fence', 'Permits cannot be fenced: several hold at once.');
}

/** The largest integer of SQLite, PostgreSQL and MySQL. */
const MAX_TOKEN = 2n ** 63n - 1n;

function checkToken(token: bigint | string): bigint {
  const value = typeof token === 'string' && /^[1-9]\d{0,18}$/.test(token) ? BigInt(token) : token;
  if (typeof value === 'bigint' && value > 0n && value <= MAX_TOKEN) return value;
  throw new UsageError(
    `A fencing token must be a positive bigint, or one as text, not ${show(token)}.`,
  );
}
