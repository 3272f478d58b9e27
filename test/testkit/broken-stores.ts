import type { Member, Store, Takeover } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { aroundStore } from 'holdfast/testkit';
import { BROKEN_HINTS } from './broken-hints.ts';
import { answering, BROKEN_MEMORY } from './broken-memory.ts';
import { BROKEN_PASSING } from './broken-passing.ts';
import { BROKEN_STEPS } from './broken-steps.ts';

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
    noticed: /^(claim: the first waiter is to ask|expiry: one that asks)/,
    break: (store) =>
      answering(store, (status) =>
        status.state === 'waiting' ? { ...status, retryInMs: 0 } : status,
      ),
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
    noticed: /^evict: an evicted claim is told the reason/,
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
    fault: 'long lives are kept as 31 bits of µs',
    noticed: /^claim: a claim lives as long as it asked/,
    break: (store) =>
      claiming(store, (claim) => ({ ...claim, ttlMs: Math.min(claim.ttlMs, 2 ** 31 / 1000) })),
  },
  {
    fault: 'waiters are told to ask only after a whole TTL',
    noticed: /^(claim: another waiter is to ask|release: a waiter behind a release)/,
    break: (store) =>
      answering(store, (status) =>
        status.state === 'waiting' ? { ...status, retryInMs: 20_000 } : status,
      ),
  },
  {
    fault: 'a full queue does not know who stands in it',
    noticed: /^claim: a bounded queue/,
    break(store) {
      const seen = new Set<string>();
      return {
        claim: async (claims) => {
          const again = claims.some(({ id }) => seen.has(id));
          for (const { id } of claims) seen.add(id);
          const statuses = await store.claim(claims);
          return statuses.map((status) =>
            again && status.state === 'waiting' ? { state: 'gone', why: 'full' } : status,
          );
        },
      };
    },
  },
  {
    fault: 'tombstones crumble',
    noticed: /^release: a late copy is refused for as long/,
    break: (store) => ({
      release: (claims, after) =>
        store.release(
          claims.map((claim) => ({ ...claim, ttlMs: claim.ttlMs / 10 })),
          after,
        ),
    }),
  },
  {
    fault: 'the dead get no tombstone',
    noticed: /^release: a late copy of a claim that has died/,
    break: (store) => ({
      release: async (claims, after) => {
        const [status] = await store.renew(claims);
        return status?.state === 'gone' ? [false] : store.release(claims, after);
      },
    }),
  },
  {
    fault: 'a waiting writer is downgraded',
    noticed: /^downgrade: a writer that waits/,
    break: (store) => ({
      async downgrade(claim) {
        const status = await store.downgrade?.(claim);
        if (status?.state !== 'waiting') return status as ClaimStatus;
        await store.release([claim]);
        const read = { ...claim, id: `${claim.id} read`, kind: 'read', permits: 1 } as const;
        return (await store.claim([read]))[0] as ClaimStatus;
      },
    }),
  },
  {
    fault: 'nobody is evicted twice',
    noticed: /^evict: an evicted claim that still holds/,
    break(store) {
      const evicted = new Set<bigint>();
      return {
        evict: async (resource, number, options) => {
          if (evicted.has(number)) return false;
          evicted.add(number);
          return store.evict?.(resource, number, options) ?? false;
        },
      };
    },
  },
  {
    fault: 'an ending is told again and again',
    noticed: /^takeover: a holder learns of the hold before its own/,
    break(store) {
      let first: Takeover | undefined;
      return answering(store, (status) => {
        if (status.state !== 'held') return status;
        first ??= status.takeover;
        return { ...status, takeover: first };
      });
    },
  },
  {
    fault: 'each kind of lock counts for itself',
    noticed: /^tokens: tokens grow although the kind/,
    break(store) {
      const counted = new Map<string, bigint>();
      return {
        claim: async (claims) => {
          const statuses = await store.claim(claims);
          return statuses.map((status, i) => {
            const { kind = '' } = claims[i] ?? {};
            if (status.state !== 'held') return status;
            counted.set(kind, (counted.get(kind) ?? 0n) + 1n);
            return { ...status, token: counted.get(kind) ?? 0n };
          });
        },
      };
    },
  },
  {
    fault: 'numbers are put in order as text',
    noticed: /^inspect and list: holders and waiters are shown in growing/,
    break: (store) => ({
      async inspect(resource) {
        const queue = await store.inspect(resource);
        const asText = (a: Member, b: Member) => (`${a.number}` < `${b.number}` ? -1 : 1);
        return { ...queue, waiters: queue.waiters.toSorted(asText) };
      },
    }),
  },
  {
    fault: 'a look is a heartbeat',
    noticed: /^inspect and list: a look extends nothing/,
    break(store) {
      const entered: Claim[] = [];
      return {
        claim: (claims) => {
          entered.push(...claims);
          return store.claim(claims);
        },
        inspect: async (resource) => {
          await store.renew(entered);
          return store.inspect(resource);
        },
      };
    },
  },
  {
    fault: 'a connection takes its claims with it',
    noticed: /^expiry: claims outlive the connection/,
    break(store) {
      const entered: Claim[] = [];
      return {
        claim: (claims) => {
          entered.push(...claims);
          return store.claim(claims);
        },
        close: async () => void (await store.release(entered)),
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
  ...BROKEN_STEPS,
  ...BROKEN_MEMORY,
  ...BROKEN_PASSING,
  ...BROKEN_HINTS,
];

/** The same store as a plain object; broken if anything is to be. */
export function brokenStore(store: Store, broken?: BrokenStore): Store {
  const plain = aroundStore(store, (_request, next) => next());
  return { ...plain, ...broken?.break(store) };
}
