/** Tombstones: the status for late copies of claims that have left, as long as they might live. */
import type { KeyValue, Operation } from '../../../clients/etcd/client.ts';
import { EXPIRED } from '../../../contract/gone.ts';
import type { GoneReason, GoneStatus } from '../../../contract/store.ts';

export type EtcdEnding = Extract<GoneReason, 'unknown' | 'evicted'>;

export function burial(key: string, lease: bigint, why: EtcdEnding, detail = ''): Operation {
  return { put: { key, lease, value: `${why} ${detail}` } };
}

/** The status that the tombstone has; without one, its life is over. */
export function epitaph(tombstone: KeyValue | undefined): GoneStatus {
  if (!tombstone) return EXPIRED;
  const space = tombstone.value.indexOf(' ');
  const detail = tombstone.value.slice(space + 1);
  const why = tombstone.value.slice(0, space) === 'evicted' ? 'evicted' : 'unknown';
  return { state: 'gone', why, ...(detail !== '' && { detail }) };
}
