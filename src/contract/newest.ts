/**
 * Newest wins: of several requests for the same work, only the last one matters.
 *
 * A place in the queue is the token, so no claim passes another. Instead a claim with `ifBusy` that
 * is not admitted at once joins at the end, and ends the earlier claims that have the mark: those
 * that wait leave, and with `replace` those that hold take no more heartbeats, so they end by their
 * release or with their TTL, and their holders are told in time. All other claims are waited for.
 * Invariant: when a claim with the mark has its reply, no earlier one waits, and none replaces the
 * last to come. It holds because a claim ends only those with smaller numbers, in the step in which
 * it enters; a repeated claim finds its place and ends none. A replaced waiter leaves a tombstone,
 * so a late copy does not come back as the newest, nor does core claim again for a lost place.
 * A claim that is refused because the queue is full ends none.
 * What would break it: a claim that ends others when it comes back, or a waiter that is ended at
 * once although it has been admitted meanwhile.
 */

/** Which earlier claims with the mark it ends: those that wait, or also those that hold. */
export type IfBusy = 'replace-waiting' | 'replace';

/** The mark of a claim that a newer one may replace. */
export const REPLACEABLE = 'replaceable';

interface Earlier {
  readonly holder: { readonly mark?: string | undefined };
  /** Why it takes no more heartbeats, if that is so. */
  readonly sealed: unknown;
  readonly admitted: boolean;
}

/** True if a newer claim with this option ends this one. */
export function isReplaced({ holder, sealed, admitted }: Earlier, ifBusy: IfBusy): boolean {
  return holder.mark === REPLACEABLE && !sealed && (!admitted || ifBusy === 'replace');
}
