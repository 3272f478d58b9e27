import { type Clock, type Timer, timers } from '../../base/clock.ts';
import type { Claim, Store, Wake } from '../../contract/store.ts';
import { TRIES_PER_TTL } from '../../store-calls/time-limit.ts';

/**
 * Subscribes to hints for a claim; returns the way to stop. Calls `ready` once: when no hint can be
 * missed any more, or when the store has not confirmed that in time. Without hints the heartbeats
 * show the same, only later.
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
  // Most stores listen already, and a needless timer costs more than all else here.
  if (!store.traits.synchronous) {
    timers.queueMicrotask(() => {
      if (!begin) return;
      limit = clock.setTimeout(go, claim.ttlMs / TRIES_PER_TTL);
      limit.unref();
    });
  }
  return () => {
    begin = undefined;
    // Later hints find the claim over, so a failure here is harmless.
    watching.then((subscribed) => subscribed?.[Symbol.asyncDispose]()).catch(() => {});
  };
}

/** If `watch` throws, all hints count as lost. */
function subscribe(store: Store, claim: Claim, wake: Wake): Promise<AsyncDisposable | undefined> {
  try {
    return Promise.resolve(store.watch?.(claim, wake));
  } catch {
    return Promise.resolve(undefined);
  }
}
