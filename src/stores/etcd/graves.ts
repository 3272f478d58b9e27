/**
 * What a late copy of a claim that has left is told: a key that lives as long as the claim might.
 */
import type { GoneReason, GoneStatus } from '../../contract/store.ts';
import type { KeyValue, Operation } from './client.ts';

export type Ending = Extract<GoneReason, 'unknown' | 'evicted'>;

export function burial(key: string, lease: bigint, why: Ending, detail = ''): Operation {
  return { put: { key, lease, value: `${why} ${detail}` } };
}

/** What the tombstone says; without one, the claim's life is over. */
export function epitaph(grave: KeyValue | undefined): GoneStatus {
  if (!grave) return { state: 'gone', why: 'expired' };
  const space = grave.value.indexOf(' ');
  const detail = grave.value.slice(space + 1);
  const why = grave.value.slice(0, space) === 'evicted' ? 'evicted' : 'unknown';
  return { state: 'gone', why, ...(detail !== '' && { detail }) };
}
