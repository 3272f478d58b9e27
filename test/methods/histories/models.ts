/**
 * What locks, and counters behind fences, do when operations happen one at a time.
 *
 * One model serves mutexes, read-write locks and semaphores, because all are queues of permits. It
 * does not know of time. A hold ends by one `release`, whoever causes it:
 * - Its holder: the operation is called when the holder last believed, and returns when the store
 *   has answered.
 * - Nobody, because the holder died or lost the lease: the environment lets it expire. That is
 *   the same operation, called when the holder was last seen to believe, and never returns: it may
 *   take effect at any time from then on, or not at all. It cannot take effect sooner, since the
 *   promise under test is that a claim outlives the belief of its holder. So a grant to another
 *   within that belief cannot be placed anywhere, and one after it always can.
 * A request that never returned is recorded with such an end of its own, called when the request
 * was: it may have been granted to a holder who never knew, and have expired.
 * What would break it: to record as the end of a belief when the loss was noticed, instead of when
 * the lease was last found held.
 */
import type { Model, Operation } from './linearizability.ts';

export type LockInput =
  | {
      /** `try` may be refused, if somebody holds; `acquire` waits. */
      readonly verb: 'acquire' | 'try';
      /** Whoever is named here has to release it: a process, or a name for this one hold. */
      readonly holder: string;
      readonly permits: number;
      readonly limit: number;
    }
  | { readonly verb: 'release'; readonly holder: string };

/** Granted with this token, or without one known (true), or refused (false). */
export type LockOutput = bigint | boolean;

export type LockOperation = Operation<LockInput, LockOutput>;

export type Hold = { readonly holder: string; readonly permits: number; readonly limit: number };

export interface LockState {
  readonly holds: readonly Hold[];
  /** The highest known so far. */
  readonly token: bigint;
}

/**
 * A lock of any kind: a mutex has one permit and the limit 1, a writer all permits of its limit.
 * Each grant needs a token above all that were granted before, and its holder's own release.
 */
export const lockModel: Model<LockState, LockInput, LockOutput> = {
  init: { holds: [], token: 0n },
  step(state, { input, output }) {
    const { holds, token } = state;
    const { holder } = input;
    if (input.verb === 'release') {
      const ended = holds.findIndex((hold) => hold.holder === holder);
      return ended < 0 ? undefined : { holds: holds.toSpliced(ended, 1), token };
    }
    if (output === false) return input.verb === 'try' && holds.length > 0 ? state : undefined;
    const { permits, limit } = input;
    const all = [...holds, { holder, permits, limit }];
    const used = all.reduce((sum, hold) => sum + hold.permits, 0);
    if (used > Math.min(...all.map((hold) => hold.limit))) return undefined;
    if (typeof output !== 'bigint') return { holds: all, token };
    return output > token ? { holds: all, token: output } : undefined;
  },
  key: ({ holds, token }) => `${token} ${holds.map(nameOf).sort().join()}`,
  hopeless: ({ token }, { output }) => typeof output === 'bigint' && output <= token,
};

function nameOf({ holder, permits, limit }: Hold): string {
  return `${holder} ${permits}/${limit}`;
}

export type CounterInput =
  /** Passes the fence and answers the value; `shared` is for readers, who do not stop others. */
  | { readonly verb: 'enter'; readonly token: bigint; readonly shared?: boolean }
  /** Passes the fence, adds one and answers the new value. */
  | { readonly verb: 'increment'; readonly token: bigint }
  /** Looks past the fence. */
  | { readonly verb: 'read' };

/** The value, or that the fence refused the token. */
export type CounterOutput = number | 'stale';

export type CounterOperation = Operation<CounterInput, CounterOutput>;

export interface CounterState {
  readonly value: number;
  /** The highest exclusive token that entered. */
  readonly fence: bigint;
  /** The highest shared one; only exclusive tokens have to pass it. */
  readonly floor: bigint;
}

/** A counter from 0 behind a claim-first fence: no increment is lost, doubled, or let in late. */
export const counterModel: Model<CounterState, CounterInput, CounterOutput> = {
  init: { value: 0, fence: 0n, floor: 0n },
  step(state, { input, output }) {
    const { value, fence, floor } = state;
    const answers = (now: number): boolean => output === undefined || output === now;
    if (input.verb === 'read') return answers(value) ? state : undefined;
    const { token } = input;
    const shared = input.verb === 'enter' && input.shared === true;
    const stale = token < fence || (!shared && token < floor);
    if (stale || output === 'stale') return stale && output === 'stale' ? state : undefined;
    if (shared) return answers(value) ? { value, fence, floor: max(floor, token) } : undefined;
    const next = input.verb === 'increment' ? value + 1 : value;
    return answers(next) ? { value: next, fence: token, floor } : undefined;
  },
  key: ({ value, fence, floor }) => `${value} ${fence} ${floor}`,
  hopeless: ({ value }, { input, output }) =>
    typeof output === 'number' && (input.verb === 'increment' ? output <= value : output < value),
};

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
