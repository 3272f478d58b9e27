/**
 * A store on a layout that other programs define: without a queue of ours, and with those verbs
 * that the layout has room for.
 */
import { followLasting } from '../../clients/listening.ts';
import type { Claim, ClaimStatus, Store, Wake } from '../../contract/store.ts';
import type { RedisStore } from './redis-store.ts';

export interface SharedTerms {
  /** The mean pause between the tries of a waiting claim, in ms. */
  readonly retryMs: number;
  /** The verbs that it has beside those that every store has. */
  readonly verbs: readonly ('downgrade' | 'keep' | 'recall' | 'watch')[];
  /** Listens to what other programs say of this lock; without it they say nothing. */
  readonly follow?: ((claim: Claim, wake: () => void) => Promise<AsyncDisposable>) | undefined;
}

export function sharedStore(store: RedisStore, { retryMs, verbs, follow }: SharedTerms): Store {
  const { name, traits, lineage, maxTtlMs, partOf } = store;
  return {
    ...{ name, traits, lineage, maxTtlMs, partOf },
    claim: async (claims) => sooner(await store.claim(claims), retryMs),
    renew: (claims) => store.renew(claims),
    release: (claims, after) => store.release(claims, after),
    inspect: (resource) => store.inspect(resource),
    close: () => store.close(),
    ...(follow && {
      watch: (claim: Claim, wake: Wake) =>
        followLasting(
          () => follow(claim, () => wake()),
          () => wake(),
        ),
    }),
    ...Object.fromEntries(verbs.map((verb) => [verb, store[verb].bind(store)])),
  };
}

/** Without a queue, waiting claims try again after about so long, each at a time of its own. */
function sooner(statuses: readonly ClaimStatus[], meanMs: number): ClaimStatus[] {
  return statuses.map((status) => {
    if (status.state !== 'waiting' || status.why !== 'queue') return status;
    const pause = meanMs * (0.5 + Math.random());
    return { ...status, retryInMs: Math.min(status.retryInMs, pause) };
  });
}
