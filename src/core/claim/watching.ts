import type { Claim, ClaimStatus, Store, Subscribed, Wake } from '../../contract/store.ts';
import type { Caller } from '../../store-calls/batcher.ts';
import { TRIES_PER_TTL } from '../../store-calls/time-limit.ts';
import type { Services } from '../services.ts';

interface Watcher extends Caller<ClaimStatus> {
  readonly services: Services;
  readonly claim: Claim;
  readonly wake: Wake;
  /** The way to stop. */
  watching: Disposable | undefined;
}

/**
 * Subscribes to hints for a claim. Sends it when no hint can be missed any more, or when the store
 * has not confirmed that in time. Without hints the heartbeats show the same, only later.
 */
export function watch(watcher: Watcher): void {
  const { calls, clock, entering } = watcher.services;
  const { store, limits } = calls;
  const subscribed = subscribe(store, watcher.claim, watcher.wake);
  if (!subscribed || isDisposable(subscribed)) {
    watcher.watching = subscribed;
    return entering.send(watcher.claim, watcher);
  }
  const watching = Promise.resolve(subscribed);
  let begin: (() => void) | undefined = () => entering.send(watcher.claim, watcher);
  const go = (): void => {
    limits.timer.delete(limit);
    begin?.();
    begin = undefined;
  };
  const limit = limits.timer.add(clock.now() + watcher.claim.ttlMs / TRIES_PER_TTL, go);
  watching.then(go, go);
  watcher.watching = {
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
