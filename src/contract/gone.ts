/** What becomes of claims in every store, in the same words. */
import type { ClaimStatus, GoneReason, GoneStatus, Kind, Takeover } from './store.ts';

/** The ways in which a hold ends. */
export const ENDINGS: readonly Takeover['reason'][] = [
  'released',
  'expired',
  'evicted',
  'handed-over',
];

/** Why a claim is gone; the most informative reason first. */
export const GONE_REASONS: readonly GoneReason[] = [
  'evicted',
  'mismatch',
  'full',
  'resumed',
  'handed-over',
  'store-reset',
  'session',
  'expired',
  'unknown',
  'refused',
];

/** It has left, or was given up. */
export const UNKNOWN: GoneStatus = { state: 'gone', why: 'unknown' };
/** Its TTL passed without a heartbeat. */
export const EXPIRED: GoneStatus = { state: 'gone', why: 'expired' };
/** Its holder has given it to another, who has not taken it yet. */
export const HANDED_OVER: GoneStatus = { state: 'gone', why: 'handed-over' };
/** Another has taken what was handed over. */
export const RESUMED: GoneStatus = { state: 'gone', why: 'resumed' };
/** A try found another claim. */
export const REFUSED: GoneStatus = { state: 'gone', why: 'refused' };

/** As many claims as allowed wait in its queue already. */
export function full(maxWaiters: number): GoneStatus {
  return { state: 'gone', why: 'full', detail: `maxWaiters is ${maxWaiters}` };
}

/** It cannot stand in a queue of this kind. */
export function mismatch(kind: Kind): GoneStatus {
  return { state: 'gone', why: 'mismatch', detail: `its queue holds ${kind} claims` };
}

/** How the hold of a claim ends that took no more heartbeats for this reason, if for any. */
export function endingOf(sealed: GoneStatus | undefined): Takeover['reason'] {
  const why = sealed?.why;
  return why === 'evicted' || why === 'handed-over' ? why : 'released';
}

/** What tries that enter together are told if not all of them hold, so that none has entered. */
export function refusals(statuses: readonly ClaimStatus[]): ClaimStatus[] | undefined {
  if (statuses.every(({ state }) => state === 'held')) return undefined;
  return statuses.map((status) => (status.state === 'held' ? REFUSED : status));
}
