/** What becomes of claims in every store, in the same words. */
import type { GoneReason, GoneStatus, Kind, Takeover } from './store.ts';

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
  'replaced',
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
/** A newer claim has taken its place. */
export const REPLACED: GoneStatus = { state: 'gone', why: 'replaced' };
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
  const why = sealed?.why ?? UNKNOWN.why;
  if (why === UNKNOWN.why) return 'released';
  return why === HANDED_OVER.why ? 'handed-over' : 'evicted';
}
