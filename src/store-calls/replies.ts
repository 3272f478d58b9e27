/**
 * Checks the replies of a store against the contract.
 *
 * Invariant: core calculates with nothing but real numbers and tokens, so a malformed reply cannot
 * grant, extend or end anything: it becomes a StoreError of unknown outcome, of its claim alone.
 * What would break it: a deadline of NaN, which is never reached, or a token that does not compare.
 */
import { MAX_DURATION_MS } from '../base/duration.ts';
import { show } from '../base/show.ts';
import { StoreError, toStoreError } from '../contract/errors.ts';
import { ENDINGS, GONE_REASONS } from '../contract/gone.ts';
import type { ClaimStatus, Kept, Member, Queue, Store, Takeover } from '../contract/store.ts';

/** The replies to a batch, each checked. Throws StoreError unless there is one for each claim. */
export function checkReplies<R>(answers: unknown, count: number, check: (answer: R) => R): R[] {
  if (!Array.isArray(answers) || answers.length !== count) throw garbled(answers);
  const checked = new Array<R>(count);
  // Several times as fast as `Array.from`, and unlike `map` it sees holes.
  for (let i = 0; i < count; i++) checked[i] = check(answers[i]);
  return checked;
}

/** The status, or an error status if it is malformed. */
export function checkStatus(status: ClaimStatus): ClaimStatus {
  try {
    if (status.state === 'error') return { state: 'error', error: toStoreError(status.error) };
    if (isSound(status)) return status;
  } catch {
    // Reading it throws.
  }
  return { state: 'error', error: garbled(status) };
}

/** @throws StoreError */
export function checkQueue(queue: Queue): Queue {
  if (queue.holders.every(isMember) && queue.waiters.every(isMember)) return queue;
  throw garbled(queue);
}

/** @throws StoreError */
export function checkBoolean(answer: boolean): boolean {
  if (typeof answer === 'boolean') return answer;
  throw garbled(answer);
}

/** @throws StoreError */
export function checkNext(next: IteratorResult<string>): IteratorResult<string> {
  if (next.done || typeof next.value === 'string') return next;
  throw garbled(next);
}

/** @throws StoreError */
export function checkKept(kept: Kept | undefined): Kept | undefined {
  if (kept === undefined) return kept;
  if (typeof kept.text === 'string' && isNumber(kept.leftMs)) return kept;
  throw garbled(kept);
}

/** The store's lineage; empty, which no fence takes, if the store cannot name it. */
export function lineageOf(store: Store): string {
  try {
    return typeof store.lineage === 'string' ? store.lineage : '';
  } catch {
    return '';
  }
}

/** The part of a resource; if `partOf` throws, the part is '', and the verb reports why. */
export function partOf(store: Store, resource: string): string {
  try {
    return store.partOf?.(resource) ?? '';
  } catch {
    return '';
  }
}

function isSound(status: Exclude<ClaimStatus, { state: 'error' }>): boolean {
  switch (status.state) {
    case 'held':
      return isHeld(status.token, status.leftMs, status.waiters) && isTakeover(status.takeover);
    case 'waiting':
      // The claim before it may have died long ago, so `retryInMs` may be negative.
      return isLife(status.leftMs) && isNumber(status.retryInMs);
    case 'gone':
      return (
        GONE_REASONS.includes(status.why) && ['string', 'undefined'].includes(typeof status.detail)
      );
    default:
      return false;
  }
}

function isHeld(token: bigint, leftMs: number, waiters: number): boolean {
  return typeof token === 'bigint' && token >= 0n && isLife(leftMs) && isNumber(waiters);
}

function isTakeover(takeover: Takeover | undefined): boolean {
  if (takeover === undefined) return true;
  return ENDINGS.includes(takeover.reason) && typeof takeover.token === 'bigint';
}

/** Timers take no more. */
function isLife(ms: number): boolean {
  return isNumber(ms) && ms >= 0 && ms <= MAX_DURATION_MS;
}

function isNumber(value: number): boolean {
  return typeof value === 'number' && !Number.isNaN(value);
}

function isMember({ number, holder }: Member): boolean {
  const { host, pid, label } = holder;
  const named = typeof host === 'string' && typeof pid === 'number';
  return typeof number === 'bigint' && named && ['string', 'undefined'].includes(typeof label);
}

function garbled(answer: unknown): StoreError {
  const message = `The store returned an invalid answer: ${show(answer)}.`;
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}

/** Stands in for a missing reply. */
export const NO_REPLY: StoreError = new StoreError('The store returned no answer for this claim.', {
  retryable: false,
  outcome: 'unknown',
});
