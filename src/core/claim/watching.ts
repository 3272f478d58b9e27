import { type Clock, type Timer, timers } from '../../base/clock.ts';
import type { Claim, Store, Subscribed, Wake } from '../../contract/store.ts';
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
): Disposable | undefined {
  const watching = subscribe(store, claim, wake);
  if (watching && !isDisposable(watching)) {
    return confirming(Promise.resolve(watching), { store, clock, claim, ready });
  }
  ready();
  return watching;
}

function confirming(
  watching: Promise<AsyncDisposable | undefined>,
  {
    store,
    clock,
    claim,
    ready,
  }: {
    readonly store: Store;
    readonly clock: Clock;
    readonly claim: Claim;
    readonly ready: () => void;
  },
): Disposable {
  let begin: (() => void) | undefined = ready;
  let limit: Timer | undefined;
  const go = (): void => {
    if (limit) clock.clearTimeout(limit);
    begin?.();
    begin = undefined;
  };
  watching.then(go, go);
  // Many are ready in a moment, and a needless timer costs more than all else here.
  if (!store.traits.synchronous) {
    timers.queueMicrotask(() => {
      if (!begin) return;
      limit = clock.setTimeout(go, claim.ttlMs / TRIES_PER_TTL);
      limit.unref();
    });
  }
  return {
    [Symbol.dispose]() {
      begin = undefined;
      // Later hints find the claim over, so a failure here is harmless.
      watching.then((subscribed) => subscribed?.[Symbol.asyncDispose]()).catch(() => {});
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

function isDisposable(watching: Subscribed): watching is Exclude<Subscribed, Promise<unknown>> {
  return typeof (watching as Partial<Disposable>)[Symbol.dispose] === 'function';
}
