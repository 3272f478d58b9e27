/** The terms of a claim, as the routines take them. */
import type { Claim } from '../../contract/store.ts';
import { toText } from '../name-text.ts';
import { letterOf } from '../status-lines.ts';

type Terms = Readonly<Record<string, unknown>>;

/** Which claim, and for how long. */
export function subjectOf({ resource, id, ttlMs }: Claim): Terms {
  return { resource: toText(resource), id, ttl: Math.ceil(ttlMs) };
}

/** All terms of a new claim, in the order in which `claim_one` takes them. */
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
