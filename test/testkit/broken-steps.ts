import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { type BrokenStore, broken } from './broken-store.ts';

/** Several turns of the queue of microtasks, in which others get their turn. */
async function pause(): Promise<void> {
  for (let i = 0; i < 10; i++) await undefined;
}

async function renewInTwoSteps(store: Store, claim: Claim): Promise<ClaimStatus> {
  const [before] = await store.renew([claim]);
  await pause();
  const [after] = await store.renew([claim]);
  if (before?.state !== 'held' || after?.state === 'held') return after as ClaimStatus;
  return (await store.claim([claim]))[0] as ClaimStatus;
}

async function tryInTwoSteps(store: Store, claim: Claim): Promise<ClaimStatus> {
  const { holders } = await store.inspect(claim.resource);
  await pause();
  const late = holders.length > 0 ? claim : ({ ...claim, kind: 'permits', limit: 99 } as const);
  return (await store.claim([late]))[0] as ClaimStatus;
}

/** Stores in which a step is not one step, or a batch is not a list of steps. */
export const BROKEN_STEPS: readonly BrokenStore[] = [
  broken(
    'a copy that comes while its claim is on the way is another claim',
    /^claim: a claim that is sent twice/,
    (store) => {
      const underWay = new Set<string>();
      return {
        async claim(claims) {
          const all = claims.map((claim) => {
            return underWay.has(claim.id) ? { ...claim, id: `${claim.id} copy` } : claim;
          });
          for (const { id } of claims) underWay.add(id);
          await pause();
          for (const { id } of claims) underWay.delete(id);
          return store.claim(all);
        },
      };
    },
  ),
  broken('a try looks first and enters later', /^try: of tries that arrive together/, (store) => ({
    claim: (claims) => Promise.all(claims.map((claim) => tryInTwoSteps(store, claim))),
  })),
  broken(
    'tries that belong together enter one by one',
    /^all or none: if one is not free/,
    (store) => ({ claimAll: (claims) => store.claim(claims) }),
  ),
  broken(
    'tries that belong together look first and enter later',
    /^all or none: of those that overlap/,
    (store) => ({
      async claimAll(claims) {
        const queues = await Promise.all(claims.map(({ resource }) => store.inspect(resource)));
        await pause();
        if (queues.every(({ holders }) => holders.length === 0)) return store.claim(claims);
        return claims.map((): ClaimStatus => ({ state: 'gone', why: 'refused' }));
      },
    }),
  ),
  broken(
    'a heartbeat reads first and writes later',
    /^renew: a heartbeat that crosses the release/,
    (store) => ({
      renew: (claims) => Promise.all(claims.map((claim) => renewInTwoSteps(store, claim))),
    }),
  ),
  broken('answers come in another order', /^batches: /, (store) => ({
    claim: async (claims) => (await store.claim(claims)).toReversed(),
  })),
  broken('one refusal spoils the batch', /^batches: a refused claim/, (store) => ({
    async claim(claims) {
      const statuses = await store.claim(claims);
      if (statuses.some(({ state }) => state === 'gone')) throw new Error('spoilt');
      return statuses;
    },
  })),
  broken('a batch is what its first claim is', /^batches: each claim of a batch/, (store) => ({
    claim: (claims) =>
      store.claim(
        claims.map(({ id, resource, ...own }) => ({ ...own, ...claims[0], id, resource })),
      ),
  })),
  broken('a batch has one TTL', /^batches: each heartbeat of a batch/, (store) => ({
    renew: (claims) =>
      store.renew(claims.map((claim) => ({ ...claim, ttlMs: claims[0]?.ttlMs ?? 0 }))),
  })),
  broken(
    '`after` is only for the first of a batch',
    /^release: claims released together with `after`/,
    (store) => ({
      async release(claims, after) {
        const first = await store.release(claims.slice(0, 1), after);
        return [...first, ...(await store.release(claims.slice(1)))];
      },
    }),
  ),
  broken(
    'a waiter is evicted, whatever has become of it',
    /^evict: evicted only if it waits/,
    (store) => ({
      evict: (resource, number, { reason, now }) => store.evict(resource, number, { reason, now }),
    }),
  ),
];
