/** Statuses as lines, as `status-lines.ts` reads them. */
import type { ClaimStatus } from '../../contract/store.ts';

export function lineOf(status: ClaimStatus): string {
  if (status.state === 'held') {
    const { token, leftMs, waiters, limit = '-', takeover } = status;
    const ended = takeover ? [takeover.reason, takeover.token] : ['-', 0];
    return ['h', token, Math.ceil(leftMs), waiters, limit, ...ended].join(' ');
  }
  if (status.state === 'waiting') {
    const { leftMs, ahead = 1, limit = '-', why, retryInMs } = status;
    return ['w', Math.ceil(leftMs), ahead, limit, why, Math.ceil(retryInMs)].join(' ');
  }
  // A reason may be of several lines, so a claim that is gone has to ask.
  return '?';
}
