/** A queue as a value: its claims, and what else it is made of. */
import type { Linked } from '../base/fifo.ts';
import type { Claim, GoneStatus, Holder, Kind, Takeover } from '../contract/store.ts';

/** A claim in a queue. Times are on the clock that the steps are given. */
export interface Entry extends Linked<Entry> {
  readonly id: string;
  /** Its place and its token; a new one if it was admitted after a greater one had been. */
  number: bigint;
  kind: Kind;
  permits: number;
  readonly limit: number;
  readonly ttlMs: number;
  readonly holder: Holder;
  admitted: boolean;
  /** It knows that it is the first waiter. */
  first: boolean;
  expiresAt: number;
  /** Counts its signs of life, for readers who cannot compare `expiresAt` with their own clock. */
  beat: number;
  /** How long it lives after the last of them. */
  lifeMs: number;
  /** Is admitted even while the queue is closed. */
  trusts: boolean;
  /** Takes no more heartbeats: evicted, handed over, or released with `after`. */
  sealed: GoneStatus | undefined;
  takeover: Takeover | undefined;
}

/** How a claim enters. */
export interface Entering {
  /** A new claim gets a number from this on. */
  readonly number: bigint;
  readonly maxWaiters: number;
  /** Default false: it waits while the queue is closed. */
  readonly trusts?: boolean;
}

/** A claim that arrives: it waits, and lives until then. */
export function entryOf(
  { id, kind, permits, limit, ttlMs, holder }: Omit<Claim, 'resource' | 'queue'>,
  number: bigint,
  expiresAt: number,
): Entry {
  return {
    id,
    number,
    kind,
    permits,
    limit,
    ttlMs,
    holder,
    admitted: false,
    first: false,
    expiresAt,
    beat: 1,
    lifeMs: ttlMs,
    trusts: false,
    sealed: undefined,
    takeover: undefined,
    previous: undefined,
    next: undefined,
  };
}

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
