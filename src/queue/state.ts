import type { GoneStatus, Takeover } from '../contract/store.ts';
import type { Entry } from './entry.ts';

/** The reply to a claim that has left, for copies of it that come later. */
export interface Tombstone {
  readonly status: GoneStatus;
  readonly until: number;
}

/** A record of finished work, and when it ends. */
export interface KeptUntil {
  readonly text: string;
  readonly until: number;
}

/**
 * What a queue is made of; times in ms, on any clock, as long as it is the same in all steps.
 *
 * A part of a long queue is enough for a step: all holders, the first waiters, and behind them the
 * claims that the step is about. The step counts if the last of the first waiters still waits then:
 * the rule looked no further.
 */
export interface QueueState {
  /** The greatest number that was given so far, so that later ones are greater. */
  readonly last?: bigint;
  /** The greatest number that was admitted so far. */
  readonly greatest?: bigint;
  /** How the last hold ended, as long as no claim has taken over the work that it left. */
  readonly unfinished?: Takeover | undefined;
  /** In order. */
  readonly claims?: Iterable<Entry>;
  /** In a part of a queue: how many waiters are not in it, all with greater numbers than this. */
  readonly leftOut?: { readonly count: number; readonly after: bigint } | undefined;
  readonly tombstones?: Iterable<readonly [id: string, Tombstone]>;
  readonly record?: KeptUntil | undefined;
  /** Admits no claim before: what was granted before a loss of data must have ended. */
  readonly closedUntil?: number | undefined;
}

/** A whole queue, not a part. */
export type WholeState = Required<Omit<QueueState, 'leftOut'>>;
