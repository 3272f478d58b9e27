import type { Clock } from '../../base/clock.ts';
import type { Claim, Store, Subscribed, Wake } from '../../contract/store.ts';
import type { StoreCalls } from '../../store-calls/store-calls.ts';
import { TRIES_PER_TTL } from '../../store-calls/time-limit.ts';

/**
 * Subscribes to hints for a claim; returns the way to stop. Calls `ready` once: when no hint can be
 * missed any more, or when the store has not confirmed that in time. Without hints the heartbeats
 * show the same, only later.
 */
export function watch(
  { store, limits }: StoreCalls,
  clock: Clock,
  { claim, wake, ready }: { readonly claim: Claim; readonly wake: Wake; ready(): void },
): Disposable | undefined {
  const subscribed = subscribe(store, claim, wake);
  if (!subscribed || isDisposable(subscribed)) {
    ready();
    return subscribed;
  }
  const watching = Promise.resolve(subscribed);
  let begin: (() => void) | undefined = ready;
  const go = (): void => {
    limits.timer.delete(limit);
    begin?.();
    begin = undefined;
  };
  const limit = limits.timer.add(clock.now() + claim.ttlMs / TRIES_PER_TTL, go);
  watching.then(go, go);
  return {
    [Symbol.dispose]() {
      begin = undefined;
      // Later hints find the claim over, so a failure here is harmless.
      watching.then((ended) => ended?.[Symbol.asyncDispose]()).catch(() => {});
    },
  };
}

/** If `watch` throws, all hints count as lost. */
function subscribe(store: Store, claim: Claim, wake: Wake): Subscribed | undefined {
  try {
    return store.watch?.(claim, wake);
  } catch {
    return undefined;
  }
}

function isDisposable(subscribed: Subscribed): subscribed is Exclude<Subscribed, Promise<unknown>> {
  return typeof (subscribed as Partial<Disposable>)[Symbol.dispose] === 'function';
}
