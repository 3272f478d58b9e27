/**
 * A hold that changes hands between processes, by way of a text.
 *
 * Invariant: at most one process may use the hold, and no other claim is admitted in between. The
 * giver's lease ends in its own process before the request leaves. The store passes the hold in one
 * step to an id to which only the text leads, with a whole TTL and without heartbeats, and in
 * another step from there to the first taker. The hold keeps its number, and each hand takes the
 * next token inside STEP: no waiter gets another number, and a fence refuses what the giver sends
 * late. Nothing in the text is believed: the id is a hash of all of it, so a changed text leads to
 * no hold, and what is left of its life is in the store's reply. Without a reply the old id is
 * released, with a tombstone: either that ends the hold, or the hold has passed, and ends with its
 * life, as after a crash.
 * What would break it: a lease that is used while its request is on its way; a token in two hands;
 * a text that is made again; a text in a log, for the first to have it has the lease.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { UsageError } from '../base/errors.ts';
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../base/names.ts';
import { wholeNumber } from '../base/options.ts';
import { randomId } from '../base/random-id.ts';
import { KINDS } from '../contract/admission.ts';
import { UnsupportedError } from '../contract/errors.ts';
import { UNKNOWN } from '../contract/gone.ts';
import {
  type Claim,
  type ClaimStatus,
  IN_TRANSIT,
  type Kind,
  MAX_PERMITS,
} from '../contract/store.ts';
import { STEP } from '../contract/token.ts';
import type { Sender } from '../store-calls/batcher.ts';
import { checkStatus } from '../store-calls/replies.ts';
import type { StoreCalls } from '../store-calls/store-calls.ts';
import type { LiveClaim } from './claim/live-claim.ts';
import { lostBy } from './errors.ts';

/** The beginning of every text, with the number of its layout. */
const FORM = 'holdfast.1.';

/** What a text says of the hold. */
interface InTransit {
  /** The full name, prefix included. */
  readonly resource: string;
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly lineage: string;
  /** Of the lease that the taker gets. */
  readonly nth: number;
}

const STAYS = 'The work of an election, of once and of refresh ends with the lease of its process.';
const NO_TOKEN = 'So many leases on this claim have come and gone that it has no token for more.';

/**
 * Prepares to give a hold to another process. What it returns gives it: call it in the same turn,
 * once the lease has ended here. It rejects with LeaseLostError or StoreError; then no one can
 * resume the hold.
 * @throws UnsupportedError if the store cannot pass it, or if no token is left for it.
 */
export function offer(
  { live, lineage, stays }: { live: LiveClaim; lineage: string; stays: boolean },
  nth: number,
): () => Promise<string> {
  const { claim, services } = live;
  const { calls } = services;
  const give = calls.verb('handOver');
  if (stays || nth >= STEP) throw new UnsupportedError('handOver', stays ? STAYS : NO_TOKEN);
  const { id, resource, kind, permits, limit, holder } = claim;
  const text = textOf({ resource, kind, permits, limit, lineage, nth });
  const given: Claim = { ...claim, holder: { ...holder, mark: IN_TRANSIT } };
  const ids = { from: id, to: idOf(text) };
  // Before the lease ends, or `close`, which may wait for it alone, would not wait for the request.
  calls.releases.underway.begin();
  return async () => {
    try {
      const status = await calls.ask(() => give(given, ids), checkStatus, claim);
      if (status.state === 'error') throw status.error;
      const gone = status.state === 'gone' ? status : UNKNOWN;
      if (gone.why === 'handed-over') return text;
      throw lostBy(resource, gone);
    } catch (error) {
      void calls.releases.send({ ...claim, unanswered: true, secret: undefined });
      throw error;
    } finally {
      calls.releases.underway.end();
    }
  };
}

/**
 * Sends the claim that takes the hold with this text.
 * @throws UnsupportedError if the store cannot pass it.
 */
export function takerOf(calls: StoreCalls, text: string): Sender<ClaimStatus> {
  const handOver = calls.verb('handOver');
  const from = idOf(text);
  const take = (claim: Claim): Promise<ClaimStatus> => handOver(claim, { from, to: claim.id });
  return calls.sender((claims) => Promise.all(claims.map(take)), checkStatus);
}

/** @throws UsageError, without the text, which is a secret. */
export function readText(text: string): InTransit {
  try {
    const said = Buffer.from(text.slice(FORM.length), 'base64url').toString();
    const parts = JSON.parse(said) as InTransit;
    if (text.startsWith(FORM) && isSound(parts)) return parts;
  } catch {
    // The error below says so.
  }
  throw new UsageError('The first argument must be the text that lease.handOver() returned.');
}

/** The id of the hold in transit to which the text leads: 128 bits, as in every id. */
function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function textOf(parts: InTransit): string {
  const said = JSON.stringify({ ...parts, secret: randomId() });
  return FORM + Buffer.from(said).toString('base64url');
}

/** @throws UsageError */
function isSound({ resource, kind, permits, limit, lineage, nth }: InTransit): boolean {
  checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
  wholeNumber(1, MAX_PERMITS)(limit, 'limit');
  wholeNumber(1, limit)(permits, 'permits');
  wholeNumber(1, STEP - 1)(nth, 'nth');
  return KINDS.includes(kind) && typeof lineage === 'string';
}
