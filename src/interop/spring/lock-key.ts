/** The keys of `JdbcLockRegistry`: a UUID as it is; for any other text, the UUID of its MD5. */
import { createHash } from 'node:crypto';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** As Java's `UUID.nameUUIDFromBytes`: version 3, and no namespace before the name. */
export function lockKeyOf(name: string): string {
  if (UUID.test(name)) return name.toLowerCase();
  const bytes = createHash('md5').update(name).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x30;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return dashed(bytes.toString('hex'));
}

/** Hexadecimal digits as a UUID is written. */
export function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
