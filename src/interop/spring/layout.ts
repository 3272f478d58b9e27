/**
 * The table `INT_LOCK` of Spring Integration, whose rows are deleted when the lock is free.
 *
 * From 7 on a row has the end of its lease. Before, it has the time of its last renewal, and each
 * reader adds the lease length from its own settings. All our programs must have the same setting
 * as Java; they write the wanted end minus that length, even if that is a time still to come.
 */
import { randomId } from '../../base/random-id.ts';
import type { RowLayout } from '../rows/layout.ts';
import { dashed, lockKeyOf } from './lock-key.ts';

export interface SpringTable {
  readonly table: string;
  readonly region: string;
  /** Of the versions before 7, the registry's time to live; undefined: 7 or later. */
  readonly timeToLiveMs: number | undefined;
}

const UUID_ROOM = 36;

export function springLayout({ table, region, timeToLiveMs }: SpringTable): RowLayout {
  const columns =
    timeToLiveMs === undefined
      ? { until: 'EXPIRED_AFTER', addsMs: 0, since: 'CREATED_DATE' }
      : { until: 'CREATED_DATE', addsMs: timeToLiveMs };
  return {
    name: 'spring',
    table,
    key: ['LOCK_KEY', 'REGION'],
    keyRoom: [UUID_ROOM, [...region].length],
    keyOf: (resource) => [lockKeyOf(resource), region],
    holder: 'CLIENT_ID',
    holderRoom: UUID_ROOM,
    writes: ({ id }) => dashed(id),
    leavesBehind: () => dashed(randomId()),
    // The column has a random UUID, and no room for more.
    holderOf: () => ({ host: 'a host unknown', pid: 0 }),
    ...columns,
    stays: false,
  };
}
