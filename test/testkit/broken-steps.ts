import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import type { BrokenStore } from './broken-stores.ts';

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
  {
    fault: 'a copy that comes while its claim is on the way is another claim',
    noticed: /^claim: a claim that is sent twice/,
    break(store) {
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
  },
  {
    fault: 'a try looks first and enters later',
    noticed: /^try: of tries that arrive together/,
    break: (store) => ({
      claim: (claims) => Promise.all(claims.map((claim) => tryInTwoSteps(store, claim))),
    }),
  },
  {
    fault: 'tries that belong together enter one by one',
    noticed: /^all or none: if one is not free/,
    break: (store) => ({ claimAll: (claims) => store.claim(claims) }),
  },
  {
    fault: 'tries that belong together look first and enter later',
    noticed: /^all or none: of those that overlap/,
    break: (store) => ({
      async claimAll(claims) {
        const queues = await Promise.all(claims.map(({ resource }) => store.inspect(resource)));
        await pause();
        if (queues.every(({ holders }) => holders.length === 0)) return store.claim(claims);
        return claims.map((): ClaimStatus => ({ state: 'gone', why: 'refused' }));
      },
    }),
  },
  {
    fault: 'a heartbeat reads first and writes later',
    noticed: /^renew: a heartbeat that crosses the release/,
    break: (store) => ({
      renew: (claims) => Promise.all(claims.map((claim) => renewInTwoSteps(store, claim))),
    }),
  },
  {
    fault: 'answers come in another order',
    noticed: /^batches: /,
    break: (store) => ({ claim: async (claims) => (await store.claim(claims)).toReversed() }),
  },
  {
    fault: 'one refusal spoils the batch',
    noticed: /^batches: a refused claim/,
    break: (store) => ({
      async claim(claims) {
        const statuses = await store.claim(claims);
        if (statuses.some(({ state }) => state === 'gone')) throw new Error('spoilt');
        return statuses;
      },
    }),
  },
  {
    fault: 'a batch is what its first claim is',
    noticed: /^batches: each claim of a batch/,
    break: (store) => ({
      claim: (claims) =>
        store.claim(
          claims.map(({ id, resource, ...own }) => {
            return { ...own, ...claims[0], id, resource };
          }),
        ),
    }),
  },
  {
    fault: 'a batch has one TTL',
    noticed: /^batches: each heartbeat of a batch/,
    break: (store) => ({
      renew: (claims) =>
        store.renew(claims.map((claim) => ({ ...claim, ttlMs: claims[0]?.ttlMs ?? 0 }))),
    }),
  },
  {
    fault: '`after` is only for the first of a batch',
    noticed: /^release: claims released together with `after`/,
    break: (store) => ({
      async release(claims, after) {
        const first = await store.release(claims.slice(0, 1), after);
        return [...first, ...(await store.release(claims.slice(1)))];
      },
    }),
  },
  {
    fault: 'a waiter is evicted, whatever has become of it',
    noticed: /^evict: evicted only if it waits/,
    break: (store) => ({
      evict: async (resource, number, { reason, now }) =>
        (await store.evict?.(resource, number, { reason, now })) ?? false,
    }),
  },
];
