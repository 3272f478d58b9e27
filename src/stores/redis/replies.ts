/**
 * Replies of all clients and both protocols as RESP2 has them.
 */
import { StoreError } from '../../errors.ts';
import type { Reply } from './client.ts';

/** @throws StoreError for what no server answers to a command of the store. */
export function replyOf(raw: unknown): Reply {
  if (typeof raw === 'string' || typeof raw === 'number' || raw === null) return raw;
  if (Array.isArray(raw)) return raw.map(replyOf);
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  if (typeof raw === 'bigint') return String(raw);
  if (Buffer.isBuffer(raw)) return raw.toString();
  if (raw instanceof Set) return Array.from(raw, replyOf);
  if (raw instanceof Map) return Array.from(raw).flat().map(replyOf);
  if (typeof raw === 'object' && raw !== null && !(raw instanceof Error)) {
    return Object.entries(raw).flat().map(replyOf);
  }
  const message = 'The Redis server gave an answer that was not expected.';
  throw new StoreError(message, { retryable: true, outcome: 'unknown' });
}
