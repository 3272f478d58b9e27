/**
 * The table `INT_LOCK` of Spring Integration, whose rows are deleted when the lock is free.
 *
 * From 7 on a row has the end of its lease. Before, it has the time of its last renewal, and each
 * reader adds the lease length from its own settings. All our programs must have the same setting
 * as Java; they write the wanted end minus that length, even if that is a time still to come.
 * The key is the name if that is a UUID; for any other text, the UUID of its MD5.
 */
import { createHash } from 'node:crypto';
import { randomId } from '../../base/random-id.ts';
import type { RowLayout } from '../rows/layout.ts';

const UUID_ROOM = 36;

/** @param timeToLiveMs of the versions before 7, that of the registry; undefined: 7 or later. */
export function springLayout(table: string, region: string, timeToLiveMs?: number): RowLayout {
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

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** As Java's `UUID.nameUUIDFromBytes`: version 3, and no namespace before the name. */
export function lockKeyOf(name: string): string {
  if (UUID.test(name)) return name.toLowerCase();
  const bytes = createHash('md5').update(name).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x30;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return dashed(bytes.toString('hex'));
}

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
