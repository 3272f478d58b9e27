/** Tombstones: the status for late copies of claims that have left, as long as they might live. */
import type { GoneReason, GoneStatus } from '../../contract/store.ts';
import type { KeyValue, Operation } from './client.ts';

export type Ending = Extract<GoneReason, 'unknown' | 'evicted'>;

export function burial(key: string, lease: bigint, why: Ending, detail = ''): Operation {
  return { put: { key, lease, value: `${why} ${detail}` } };
}

/** The status of the tombstone; without one, its life is over. */
export function epitaph(grave: KeyValue | undefined): GoneStatus {
  if (!grave) return { state: 'gone', why: 'expired' };
  const space = grave.value.indexOf(' ');
  const detail = grave.value.slice(space + 1);
  const why = grave.value.slice(0, space) === 'evicted' ? 'evicted' : 'unknown';
  return { state: 'gone', why, ...(detail !== '' && { detail }) };
}
