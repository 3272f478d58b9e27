/**
 * Elections as others see them: the queue is looked at again and again.
 *
 * Invariant: what is yielded differs from what was yielded before it, and comes in the order of the
 * looks. Between two looks anybody may have led, so everything but the first is marked `missed`.
 * What would break it: to look while the reader is busy, for what is yielded then would be old.
 */
import { onAbort } from '../../base/aborts.ts';
import { sleep } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { isLockError } from '../../base/errors.ts';
import { checkOptions } from '../../base/options.ts';
import type { StoreError } from '../../contract/errors.ts';
import type { Member } from '../../contract/store.ts';
import type { Engine } from '../../core/engine.ts';
import { checkSignal } from '../../core/waiter.ts';

/** Who leads and who stands by, each in order. */
export interface Standings {
  readonly leaders: readonly Member[];
  readonly standbys: readonly Member[];
}

export interface ObservedStandings extends Standings {
  /** Since the standings before, others may have led and gone; false for the first ones. */
  readonly missed: boolean;
}

export interface ObserveOptions {
  /** How often to look; default 500 ms. */
  readonly every?: Duration;
  /** Ends the observation; the loop then just ends. */
  readonly signal?: AbortSignal;
}

const OBSERVE = { every: positive(500), signal: checkSignal };

/** @throws UsageError */
export function observe(
  engine: Engine,
  resource: string,
  options: ObserveOptions,
): AsyncGenerator<ObservedStandings, void, void> {
  const { every: everyMs, signal } = checkOptions(options, OBSERVE, 'observe');
  return observing(engine, resource, { everyMs, signal });
}

async function* observing(
  engine: Engine,
  resource: string,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<ObservedStandings, void, void> {
  if (signal?.aborted) return;
  const over = new AbortController();
  // Of a loop that is never resumed, too, the caller's signal is let go.
  const closing = {
    close(): void {
      forgetSignal?.();
      engine.closables.delete(closing);
      over.abort();
    },
  };
  const forgetSignal = signal && onAbort(signal, closing.close);
  engine.closables.add(closing);
  try {
    let last: string | undefined;
    while (!over.signal.aborted) {
      const missed = last !== undefined;
      // A caller that has never seen anything is told why.
      const queue = await engine.inspect(resource).catch(missed ? passing : undefined);
      const now = queue && orderOf([...queue.holders, undefined, ...queue.waiters]);
      if (queue && now !== last && !over.signal.aborted) {
        last = now;
        yield { leaders: queue.holders, standbys: queue.waiters, missed };
      }
      await sleep(engine.services.clock, everyMs, over.signal);
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    closing.close();
  }
}

/** A failure of the store that may pass is no reason to give up. */
export function passing(error: unknown): undefined {
  if (!isLockError(error, 'STORE') || !(error as StoreError).retryable) throw error;
}

function orderOf(members: readonly (Member | undefined)[]): string {
  return members.map((member) => member?.number ?? '|').join();
}
