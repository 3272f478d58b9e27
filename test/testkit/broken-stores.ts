import type { Claim, ClaimStatus, Store, Wake } from 'holdfast';
import { aroundStore } from 'holdfast/testkit';

/** A store with one promise broken. */
export interface BrokenStore {
  /** What is wrong with it. */
  readonly fault: string;
  /** The cases that have to notice, by their names. */
  readonly noticed: RegExp;
  break(store: Store): Partial<Store>;
}

type Rename = (resource: string) => string;

/** Names that this function takes for the same are the same lock. */
function renamed(store: Store, rename: Rename): Partial<Store> {
  const all = (claims: readonly Claim[]) =>
    claims.map((claim) => ({ ...claim, resource: rename(claim.resource) }));
  return {
    claim: (claims) => store.claim(all(claims)),
    renew: (claims) => store.renew(all(claims)),
    release: (claims, after) => store.release(all(claims), after),
    inspect: async (resource) => ({ ...(await store.inspect(rename(resource))), resource }),
  };
}

/** Changes what `claim` and `renew` answer. */
function answering(store: Store, change: (status: ClaimStatus) => ClaimStatus): Partial<Store> {
  return {
    claim: async (claims) => (await store.claim(claims)).map(change),
    renew: async (claims) => (await store.renew(claims)).map(change),
  };
}

/** Changes what is claimed. */
function claiming(store: Store, change: (claim: Claim) => Claim): Partial<Store> {
  return { claim: (claims) => store.claim(claims.map(change)) };
}

async function revive(store: Store, claim: Claim): Promise<ClaimStatus> {
  const [status] = await store.renew([claim]);
  if (status?.state !== 'gone') return status as ClaimStatus;
  return (await store.claim([claim]))[0] as ClaimStatus;
}

async function freeAnybody(store: Store, claim: Claim): Promise<boolean> {
  const [released] = await store.release([claim]);
  const [holder] = (await store.inspect(claim.resource)).holders;
  if (released || !holder) return released === true;
  return store.evict?.(claim.resource, holder.number, { reason: '', now: true }) ?? false;
}

export const BROKEN_STORES: readonly BrokenStore[] = [
  {
    fault: 'repeating a claim extends it',
    noticed: /^claim: repeating/,
    break: (store) => ({
      claim: async (claims) => {
        await store.claim(claims);
        return store.renew(claims);
      },
    }),
  },
  {
    fault: 'a try queues up',
    noticed: /^try: /,
    break: (store) => claiming(store, (claim) => ({ ...claim, queue: true })),
  },
  {
    fault: 'a heartbeat extends nothing',
    noticed: /^renew: renewing gives/,
    break: (store) => ({ renew: (claims) => store.claim(claims) }),
  },
  {
    fault: 'a heartbeat revives the dead',
    noticed: /^renew: .*never revives/,
    break: (store) => ({
      renew: (claims) => Promise.all(claims.map((claim) => revive(store, claim))),
    }),
  },
  {
    fault: 'a release frees whoever holds',
    noticed: /^release: releasing by another id/,
    break: (store) => ({
      release: (claims) => Promise.all(claims.map((claim) => freeAnybody(store, claim))),
    }),
  },
  {
    fault: 'a release leaves no tombstone',
    noticed: /^release: .*(late copy|arrives after)/,
    break(store) {
      const entered = new Set<string>();
      return {
        claim: (claims) => {
          for (const { id } of claims) entered.add(id);
          return store.claim(claims);
        },
        release: async (claims, after) => {
          const known = claims.map((claim) => ({ ...claim, unanswered: false }));
          const answers = await store.release(
            known.filter(({ id }) => entered.has(id)),
            after,
          );
          return claims.map(({ id }) => entered.has(id) && answers[0] === true);
        },
      };
    },
  },
  {
    fault: 'a release forgets `after`',
    noticed: /^release: released with `after`/,
    break: (store) => ({ release: (claims) => store.release(claims) }),
  },
  {
    fault: 'every permit weighs the same',
    noticed: /^permits: permits are counted by weight/,
    break: (store) => claiming(store, (claim) => ({ ...claim, permits: 1 })),
  },
  {
    fault: 'every claim brings its own limit',
    noticed: /^permits: /,
    break: (store) => claiming(store, (claim) => ({ ...claim, limit: 1_000 })),
  },
  {
    fault: 'kinds share a queue',
    noticed: /^readers and writers: .*mismatch/,
    break: (store) => claiming(store, (claim) => ({ ...claim, kind: 'permits' })),
  },
  {
    fault: 'tokens stand still',
    noticed: /^tokens: tokens grow/,
    break: (store) =>
      answering(store, (status) => (status.state === 'held' ? { ...status, token: 7n } : status)),
  },
  {
    fault: 'nobody learns of a takeover',
    noticed: /^takeover: /,
    break: (store) =>
      answering(store, (status) =>
        status.state === 'held' ? { ...status, takeover: undefined } : status,
      ),
  },
  {
    fault: 'holders do not hear of waiters',
    noticed: /^claim: a holder is told whether/,
    break: (store) =>
      answering(store, (status) => (status.state === 'held' ? { ...status, waiters: 0 } : status)),
  },
  {
    fault: 'waiters are told to ask at once, for ever',
    noticed: /^(claim: the first waiter need not|expiry: a waiter that asks)/,
    break: (store) =>
      answering(store, (status) =>
        status.state === 'waiting' ? { ...status, retryInMs: 0 } : status,
      ),
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
    fault: 'names are folded to lower case',
    noticed: /^names: .*case/,
    break: (store) => renamed(store, (name) => name.toLowerCase()),
  },
  {
    fault: 'names are normalised',
    noticed: /^names: .*composed/,
    break: (store) => renamed(store, (name) => name.normalize()),
  },
  {
    fault: 'names end at a NUL',
    noticed: /^names: .*NUL/,
    break: (store) => renamed(store, (name) => name.split('\0')[0] ?? ''),
  },
  {
    fault: 'names lose the spaces at their ends',
    noticed: /^names: .*spaces/,
    break: (store) => renamed(store, (name) => name.trim()),
  },
  {
    fault: 'long names are cut',
    noticed: /^names: .*long/,
    break: (store) => renamed(store, (name) => name.slice(0, 255)),
  },
  {
    fault: 'an eviction is only claimed to be done',
    noticed: /^evict: /,
    break: () => ({ evict: async () => true }),
  },
  {
    fault: 'an eviction is always immediate',
    noticed: /^evict: .*stays until its TTL/,
    break: (store) => ({
      evict: async (resource, number, { reason }) =>
        (await store.evict?.(resource, number, { reason, now: true })) ?? false,
    }),
  },
  {
    fault: 'nobody learns why they were evicted',
    noticed: /^evict: the evicted is told why/,
    break: (store) => ({
      evict: async (resource, number, { now }) =>
        (await store.evict?.(resource, number, { reason: 'unknown', now })) ?? false,
    }),
  },
  {
    fault: 'a downgrade gives a new claim',
    noticed: /^downgrade: .*keeps its token/,
    break: (store) => ({
      async downgrade(claim) {
        await store.release([claim]);
        const read = { ...claim, id: `${claim.id} read`, kind: 'read', permits: 1 } as const;
        return (await store.claim([read]))[0] as ClaimStatus;
      },
    }),
  },
  {
    fault: 'hints never come',
    noticed: /^hints: the waiter that is admitted/,
    break: () => ({ watch: async () => ({ [Symbol.asyncDispose]: async () => {} }) }),
  },
  {
    fault: 'every release wakes everybody',
    noticed: /^hints: a release tells exactly/,
    break(store) {
      const wakes = new Set<Wake>();
      return {
        watch: (claim, wake) => {
          wakes.add(wake);
          return store.watch?.(claim, wake) ?? Promise.reject();
        },
        async release(claims, after) {
          const answers = await store.release(claims, after);
          for (const wake of wakes) wake();
          return answers;
        },
      };
    },
  },
  {
    fault: 'a list ignores the prefix',
    noticed: /^names: a list takes its prefix/,
    break: (store) => ({ list: () => store.list?.('') ?? ([] as never) }),
  },
  {
    fault: 'the secret id is shown',
    noticed: /^claim: the id of a claim stays secret/,
    break: (store) =>
      claiming(store, (claim) => ({ ...claim, holder: { ...claim.holder, label: claim.id } })),
  },
];

/** The same store as a plain object; broken if anything is to be. */
export function brokenStore(store: Store, broken?: BrokenStore): Store {
  const plain = aroundStore(store, (_request, next) => next());
  return { ...plain, ...broken?.break(store) };
}
