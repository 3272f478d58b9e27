/**
 * A fair lock of Redisson wakes only its first waiter, on a channel of that waiter.
 *
 * Invariant: a waiting claim asks once more after it has begun to listen, so that it misses no
 * message. Claims that get the lock at once need no channel. It asks by `renew`, which, unlike
 * `claim`, may come after the release.
 */
import { followLasting } from '../../clients/listening.ts';
import type { Claim, ClaimStatus, Store, Wake } from '../../contract/store.ts';

type Follow = (claim: Claim, wake: () => void) => Promise<AsyncDisposable>;

interface OwnWatch {
  readonly wake: Wake;
  following?: Promise<AsyncDisposable>;
}

/** The same store, whose waiting claims are also woken by Java. */
export function wokenByJava(store: Store, follow: Follow): Store {
  const watched = new Map<string, OwnWatch>();

  async function listen(claim: Claim): Promise<void> {
    const own = watched.get(claim.id);
    if (!own || own.following) return;
    own.following = followLasting(
      () => follow(claim, () => own.wake()),
      () => own.wake(),
    );
    await own.following;
    if (watched.get(claim.id) !== own) return;
    const [status] = await store.renew([claim]);
    if (status?.state !== 'waiting') own.wake(status);
  }

  return {
    ...store,
    async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
      const statuses = await store.claim(claims);
      for (const [i, claim] of claims.entries()) {
        // A failed question is asked again with the next heartbeat.
        if (statuses[i]?.state === 'waiting') listen(claim).catch(() => {});
      }
      return statuses;
    },
    async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
      const own: OwnWatch = { wake };
      watched.set(claim.id, own);
      const watching = await store.watch?.(claim, wake);
      return {
        async [Symbol.asyncDispose]() {
          if (watched.get(claim.id) === own) watched.delete(claim.id);
          await watching?.[Symbol.asyncDispose]();
          await (await own.following)?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}
