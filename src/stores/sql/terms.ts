/** What the routines are told of a claim. */
import type { Claim } from '../../contract/store.ts';
import { toText } from '../name-text.ts';
import { letterOf } from '../status-lines.ts';

type Terms = Readonly<Record<string, unknown>>;

/** Which claim, and for how long. */
export function subjectOf({ resource, id, ttlMs }: Claim): Terms {
  return { resource: toText(resource), id, ttl: Math.ceil(ttlMs) };
}

/** All that a new claim says, in the order in which the routine for a single one takes it. */
export function termsOf(claim: Claim, [address, tag]: readonly string[]): Terms {
  const { resource, id, kind, permits, limit, ttlMs, queue, holder } = claim;
  return {
    resource: toText(resource),
    id,
    kind: letterOf(kind),
    permits,
    limit,
    ttl: Math.ceil(ttlMs),
    queue,
    address,
    tag,
    holder: JSON.stringify(holder),
  };
}
