import type { Core } from './core.ts';
import { TRIES_PER_TTL } from './patience.ts';
import type { Claim, Store, Wake } from './store.ts';

/**
 * Subscribes to hints for a claim; returns the way to stop. `ready` is called once: when no hint
 * can be missed any more, or when the store cannot say so. Without hints the heartbeats still bring
 * the news, only later.
 */
export function subscribe(
  { store, clock }: Core,
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
  const go = (): void => {
    if (!waits) return;
    waits = false;
    if (patience) clock.clearTimeout(patience);
    if (!stopped) ready();
  };
  const stop = (): void => {
    stopped = true;
    void dispose(watching);
    watching = undefined;
  };
  const patience = store.traits.synchronous
    ? undefined
    : clock.setTimeout(go, claim.ttlMs / TRIES_PER_TTL);
  patience?.unref();
  watch(store, claim, wake)
    .then((subscribed) => {
      watching = subscribed;
      if (stopped) stop();
    })
    .then(go, go);
  return stop;
}

/** A store that cannot watch is one whose hints are all lost. */
function watch(store: Store, claim: Claim, wake: Wake): Promise<AsyncDisposable | undefined> {
  try {
    return Promise.resolve(store.watch?.(claim, wake));
  } catch {
    return Promise.resolve(undefined);
  }
}

async function dispose(watching: AsyncDisposable | undefined): Promise<void> {
  try {
    await watching?.[Symbol.asyncDispose]();
  } catch {
    // Hints that still come find the claim over.
  }
}
