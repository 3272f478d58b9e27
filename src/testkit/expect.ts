/** Assertions on the status that a store returns; they return it with its type narrowed. */
import assert from 'node:assert/strict';
import type {
  ClaimStatus,
  GoneReason,
  GoneStatus,
  HeldStatus,
  WaitingStatus,
} from '../contract/store.ts';

export function held(status: ClaimStatus | undefined): HeldStatus {
  if (status?.state !== 'held') assert.fail(`expected a held claim, got ${show(status)}`);
  assert.equal(typeof status.token, 'bigint', 'a token is a bigint');
  assert.ok(status.leftMs > 0, `a held claim has life left, not ${status.leftMs} ms`);
  return status;
}

export function waiting(status: ClaimStatus | undefined): WaitingStatus {
  if (status?.state !== 'waiting') assert.fail(`expected a waiting claim, got ${show(status)}`);
  assert.ok(status.leftMs > 0, `a waiting claim has life left, not ${status.leftMs} ms`);
  assert.ok(status.retryInMs >= 0, `retryInMs is a delay, not ${status.retryInMs}`);
  return status;
}

/** @param why if given, the only acceptable reason. */
export function gone(status: ClaimStatus | undefined, why?: GoneReason): GoneStatus {
  if (status?.state !== 'gone') assert.fail(`expected a claim that is gone, got ${show(status)}`);
  if (why !== undefined) assert.equal(status.why, why);
  return status;
}

export function states(statuses: readonly ClaimStatus[]): string {
  return statuses.map((status) => status.state).join(' ');
}

export function show(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}n` : each));
}
