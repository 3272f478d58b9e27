/**
 * The rule: a claim is admitted when its permits fit under the limit and none before it waits.
 *
 * Invariant: the admitted claims are a prefix of the live queue, so a claim's place in the queue
 * serves as its fencing token: a claim that is admitted later has a later place. It holds because
 * admission goes in order and stops at the first claim that does not fit, however small those
 * behind it are. If programs disagree about the limit, the smallest among the admitted claims and
 * those up to the one in question applies: no admitted claim is revoked, and a later claim with a
 * smaller limit cannot lock out an earlier one for ever.
 * What would break it: admitting past a waiter, or counting a dead claim.
 */
import { wholeNumber } from '../base/options.ts';
import type { Kind } from './store.ts';

export const KINDS: readonly Kind[] = ['mutex', 'read', 'write', 'permits'];

/** Longest queue of waiting claims of one resource; default 10,000. */
export const maxWaiters: (given: number | undefined, name: string) => number = wholeNumber(
  0,
  Number.POSITIVE_INFINITY,
  10_000,
);

/** The part of a live claim that the rule uses. */
export interface Standing {
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly admitted: boolean;
}

/**
 * True if both kinds share a queue: readers and writers do, every other kind has its own.
 *
 * @example
 * import { sameQueue } from 'holdfast/store';
 *
 * console.log(sameQueue('read', 'write'), sameQueue('mutex', 'read')); // true false
 */
export function sameQueue(a: Kind, b: Kind): boolean {
  return a === b || (a !== 'mutex' && a !== 'permits' && b !== 'mutex' && b !== 'permits');
}

/**
 * How many waiters from the front of a queue of live claims, in order, are admitted now.
 *
 * @example
 * import { admissible } from 'holdfast/store';
 *
 * const holder = { kind: 'permits', permits: 2, limit: 3, admitted: true } as const;
 * const waiter = { ...holder, permits: 1, admitted: false };
 * console.log(admissible([holder, waiter, waiter])); // 1
 */
export function admissible(queue: Iterable<Standing>): number {
  let limit = Number.POSITIVE_INFINITY;
  let used = 0;
  let count = 0;
  for (const standing of queue) {
    limit = Math.min(limit, standing.limit);
    used += standing.permits;
    if (standing.admitted) continue;
    if (used > limit) break;
    count++;
  }
  return count;
}

/**
 * The limit in force for the last of these claims.
 *
 * @example
 * import { limitOf } from 'holdfast/store';
 *
 * const holder = { kind: 'permits', permits: 1, limit: 4, admitted: true } as const;
 * console.log(limitOf([holder, { ...holder, limit: 3, admitted: false }])); // 3
 */
export function limitOf(queue: Iterable<Standing>): number {
  let limit = Number.POSITIVE_INFINITY;
  for (const standing of queue) limit = Math.min(limit, standing.limit);
  return limit;
}
