/**
 * Elections from outside: an observer inspects the queue again and again.
 *
 * Invariant: each yielded state differs from the one before it, and they come in look order.
 * Between two looks any candidate may have led, so every state but the first is marked `missed`.
 * What would break it: looking while the reader is busy, because the state would be old by then.
 */
import { firstOf } from '../../base/aborts.ts';
import { sleep } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { isLockError } from '../../base/errors.ts';
import type { Checked, Checks } from '../../base/options.ts';
import type { StoreError } from '../../contract/errors.ts';
import type { Member } from '../../contract/store.ts';
import { checkSignal } from '../../core/acquire-options.ts';
import type { Lock } from '../../primitives/lock.ts';

/** The leaders and the standbys, each in order. */
export interface Standings {
  readonly leaders: readonly Member[];
  readonly standbys: readonly Member[];
}

export interface ObservedStandings extends Standings {
  /** Others may have led and gone since the last standings; false for the first ones. */
  readonly missed: boolean;
}

export interface ObserveOptions {
  /** How often to look; default 500 ms. */
  readonly every?: Duration;
  /** Ends the observation; the loop then just ends. */
  readonly signal?: AbortSignal;
}

export const OBSERVE: Checks<ObserveOptions, 'signal'> = {
  every: positive(500),
  signal: checkSignal,
};

export async function* observe(
  { engine, resource }: Lock,
  { every: everyMs, signal }: Checked<typeof OBSERVE>,
): AsyncGenerator<ObservedStandings, void, void> {
  if (signal?.aborted) return;
  engine.checkOpen();
  // Also frees the caller's signal if the loop is never resumed.
  const { aborter, forget } = firstOf([engine.closing.signal, ...(signal ? [signal] : [])]);
  const over = aborter.signal;
  try {
    let last: string | undefined;
    while (!over.aborted) {
      const missed = last !== undefined;
      // A failure of the first look reaches the caller.
      const queue = await engine.inspect(resource).catch(missed ? passing : undefined);
      const all = queue && [...queue.holders, undefined, ...queue.waiters];
      const now = all?.map((member) => member?.number ?? '|').join();
      if (queue && now !== last && !over.aborted) {
        last = now;
        yield { leaders: queue.holders, standbys: queue.waiters, missed };
      }
      await sleep(engine.services.clock, everyMs, over);
    }
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    forget();
  }
}

/** A failure of the store that may pass is no reason to give up. */
export function passing(error: unknown): undefined {
  if (!isLockError(error, 'STORE') || !(error as StoreError).retryable) throw error;
}
