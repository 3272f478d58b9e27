/** Replies of all clients and both protocols as RESP2 has them. */
import { isError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import type { RedisReply } from './link.ts';

/** No script of the store nests its replies deeper. */
const DEEPEST = 20;

/** @throws StoreError for a reply that no server gives to a command of the store. */
export function replyOf(raw: unknown, depth = 0): RedisReply {
  if (typeof raw === 'string' || typeof raw === 'number' || raw === null) return raw;
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  if (typeof raw === 'bigint') return String(raw);
  if (Buffer.isBuffer(raw)) return raw.toString();
  if (typeof raw !== 'object' || isError(raw) || depth > DEEPEST) {
    const message = 'The Redis server returned an unexpected reply.';
    throw new StoreError(message, { retryable: true, outcome: 'unknown' });
  }
  const parts: RedisReply[] = [];
  // Sees holes, and is faster than `Array.from`.
  for (const part of partsOf(raw)) parts.push(replyOf(part, depth + 1));
  return parts;
}

function partsOf(raw: object): Iterable<unknown> {
  if (raw instanceof Map) return [...raw].flat();
  return Symbol.iterator in raw ? (raw as Iterable<unknown>) : Object.entries(raw).flat();
}
