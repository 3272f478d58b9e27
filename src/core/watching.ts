import type { Clock, Timer } from '../base/clock.ts';
import type { Claim, Store, Wake } from '../contract/store.ts';
import { TRIES_PER_TTL } from '../store-calls/time-limit.ts';

/**
 * Subscribes to hints for a claim; returns the way to stop. `ready` is called once: when no hint
 * can be missed any more, or when the store cannot say so. Without hints the heartbeats still bring
 * the news, only later.
 */
export function watch(
  store: Store,
  clock: Clock,
  parts: { readonly claim: Claim; readonly wake: Wake; readonly ready: () => void },
): () => void {
  const { claim, wake, ready } = parts;
  if (!store.watch) {
    ready();
    return () => {};
  }
  let waits = true;
  let stopped = false;
  let watching: AsyncDisposable | undefined;
  let limit: Timer | undefined;
  const go = (): void => {
    if (!waits) return;
    waits = false;
    if (limit) clock.clearTimeout(limit);
    if (!stopped) ready();
  };
  const stop = (): void => {
    stopped = true;
    if (watching) dispose(watching);
    watching = undefined;
  };
  subscribe(store, claim, wake).then((subscribed) => {
    watching = subscribed;
    if (stopped) stop();
    go();
  }, go);
  // Most stores listen already, and a timer for nothing costs more than all else here.
  if (!store.traits.synchronous) {
    queueMicrotask(() => {
      if (!waits) return;
      limit = clock.setTimeout(go, claim.ttlMs / TRIES_PER_TTL);
      limit.unref();
    });
  }
  return stop;
}

/** A store that cannot watch is one whose hints are all lost. */
function subscribe(store: Store, claim: Claim, wake: Wake): Promise<AsyncDisposable | undefined> {
  try {
    return Promise.resolve(store.watch?.(claim, wake));
  } catch {
    return Promise.resolve(undefined);
  }
}

/** Hints that still come find the claim over, so it is no matter if it fails. */
function dispose(watching: AsyncDisposable): void {
  try {
    Promise.resolve(watching[Symbol.asyncDispose]()).catch(ignore);
  } catch {
    // The same.
  }
}

function ignore(): void {}
