import type { StoreError } from '../contract/errors.ts';
import type { Claim, ClaimStatus } from '../contract/store.ts';
import type { Answered } from '../store-calls/batcher.ts';
import type { Events } from './events.ts';

/** A limit that is not ours means that programs disagree. */
export function noticeLimit(events: Events, claim: Claim, limit: number | undefined): void {
  if (limit === undefined || !events.of.mismatch.isThere) return;
  const { resource, kind } = claim;
  const detail = `the limit in force is ${limit}, not ${claim.limit}`;
  events.emit('mismatch', { resource, kind, detail });
}

/** The store has lost its memory and grants nothing yet. */
export function noticeQuarantine(events: Events, claim: Claim, status: ClaimStatus): void {
  if (status.state !== 'waiting' || status.why !== 'data-loss') return;
  if (!events.of.quarantine.isThere) return;
  events.emit('quarantine', { resource: claim.resource, leftMs: status.retryInMs });
}

/** A heartbeat brought no answer. */
export function noticeDoubt(
  events: Events,
  claim: Claim,
  doubt: { readonly remainingMs: number; readonly cause: StoreError | undefined },
): void {
  if (!events.of.unconfirmed.isThere) return;
  events.emit('unconfirmed', { resource: claim.resource, kind: claim.kind, ...doubt });
}

/** A request that keeps claims alive has come back, or has not. */
export function noticeHeartbeat(
  events: Events,
  request: Answered<ClaimStatus> & { readonly store: string },
): void {
  if (!events.of.heartbeat.isThere) return;
  const { store, claims, results, error } = request;
  const refused = results.find((status) => status.state === 'error')?.error;
  const failed = error ? claims : results.filter(({ state }) => state === 'error').length;
  events.emit('heartbeat', { store, claims, failed, cause: error ?? refused });
}
