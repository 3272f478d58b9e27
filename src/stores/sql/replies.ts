/** The status in a line or an error for one claim. */
import type { ClaimStatus } from '../../contract/store.ts';
import { garbled, statusIn } from '../status-lines.ts';
import type { Reply } from './apart.ts';

export function statusFrom(reply: Reply): ClaimStatus {
  return typeof reply === 'string' ? statusIn(reply) : { state: 'error', error: reply };
}

/** @throws StoreError */
export function yesOrNo(reply: Reply): boolean {
  if (reply === '1' || reply === '0') return reply === '1';
  const status = statusFrom(reply);
  throw status.state === 'error' ? status.error : garbled(reply);
}
