import type { Clock, Timer } from '../base/clock.ts';
import type { Claim, Store, Wake } from '../contract/store.ts';
import { TRIES_PER_TTL } from '../store-calls/time-limit.ts';

/**
 * Subscribes to hints for a claim; returns the way to stop. `ready` is called once: when no hint
 * can be missed any more, or when the store cannot say so in time. Without hints the heartbeats
 * still bring the news, only later.
 */
export function watch(
  store: Store,
  clock: Clock,
  {
    claim,
    wake,
    ready,
  }: { readonly claim: Claim; readonly wake: Wake; readonly ready: () => void },
): () => void {
  if (!store.watch) {
    ready();
    return () => {};
  }
  let begin: (() => void) | undefined = ready;
  let limit: Timer | undefined;
  const go = (): void => {
    if (limit) clock.clearTimeout(limit);
    begin?.();
    begin = undefined;
  };
  const watching = subscribe(store, claim, wake);
  watching.then(go, go);
  // Most stores listen already, and a timer for nothing costs more than all else here.
  if (!store.traits.synchronous) {
    queueMicrotask(() => {
      if (!begin) return;
      limit = clock.setTimeout(go, claim.ttlMs / TRIES_PER_TTL);
      limit.unref();
    });
  }
  return () => {
    begin = undefined;
    // Hints that still come find the claim over, so it does not matter if this fails.
    watching.then((subscribed) => subscribed?.[Symbol.asyncDispose]()).catch(() => {});
  };
}

/** A store that cannot watch is one whose hints are all lost. */
function subscribe(store: Store, claim: Claim, wake: Wake): Promise<AsyncDisposable | undefined> {
  try {
    return Promise.resolve(store.watch?.(claim, wake));
  } catch {
    return Promise.resolve(undefined);
  }
}
