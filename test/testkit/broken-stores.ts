import type { Member, Store, Takeover } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { aroundStore } from 'holdfast/testkit';
import { BROKEN_HINTS } from './broken-hints.ts';
import { answering, BROKEN_MEMORY, telling } from './broken-memory.ts';
import { BROKEN_PASSING } from './broken-passing.ts';
import { BROKEN_STEPS } from './broken-steps.ts';
import { type BrokenStore, broken, type Sound } from './broken-store.ts';

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

async function freeAnybody(store: Sound, claim: Claim): Promise<boolean> {
  const [released] = await store.release([claim]);
  const [holder] = (await store.inspect(claim.resource)).holders;
  if (released || !holder) return released === true;
  return store.evict(claim.resource, holder.number, { reason: '', now: true });
}

/** Claims as before, and notes what was claimed. */
function noting(store: Store) {
  const entered: Claim[] = [];
  const claim: Store['claim'] = (claims) => {
    entered.push(...claims);
    return store.claim(claims);
  };
  return { entered, claim };
}

/** Enters as a reader in place of the claim. */
async function readInstead(store: Store, claim: Claim): Promise<ClaimStatus> {
  await store.release([claim]);
  const read = { ...claim, id: `${claim.id} read`, kind: 'read', permits: 1 } as const;
  return (await store.claim([read]))[0] as ClaimStatus;
}

export const BROKEN_STORES: readonly BrokenStore[] = [
  broken('repeating a claim extends it', /^claim: repeating/, (store) => ({
    claim: async (claims) => {
      await store.claim(claims);
      return store.renew(claims);
    },
  })),
  broken('a try queues up', /^try: /, (store) =>
    claiming(store, (claim) => ({ ...claim, queue: true })),
  ),
  broken('a heartbeat extends nothing', /^renew: renewing gives/, (store) => ({
    renew: (claims) => store.claim(claims),
  })),
  broken('a heartbeat revives the dead', /^renew: .*never revives/, (store) => ({
    renew: (claims) => Promise.all(claims.map((claim) => revive(store, claim))),
  })),
  broken('a release frees whoever holds', /^release: releasing by another id/, (store) => ({
    release: (claims) => Promise.all(claims.map((claim) => freeAnybody(store, claim))),
  })),
  broken('a release leaves no tombstone', /^release: .*(late copy|arrives after)/, (store) => {
    const { entered, claim } = noting(store);
    return {
      claim,
      release: async (claims, after) => {
        const came = claims.filter(({ id }) => entered.some((each) => each.id === id));
        const known = came.map((each) => ({ ...each, unanswered: false }));
        const [released] = await store.release(known, after);
        return claims.map((each) => came.includes(each) && released === true);
      },
    };
  }),
  broken('a release forgets `after`', /^release: released with `after`/, (store) => ({
    release: (claims) => store.release(claims),
  })),
  broken('every permit weighs the same', /^permits: permits are counted by weight/, (store) =>
    claiming(store, (claim) => ({ ...claim, permits: 1 })),
  ),
  broken('every claim brings its own limit', /^permits: /, (store) =>
    claiming(store, (claim) => ({ ...claim, limit: 1_000 })),
  ),
  broken('kinds share a queue', /^readers and writers: .*mismatch/, (store) =>
    claiming(store, (claim) => ({ ...claim, kind: 'permits' })),
  ),
  broken('tokens stand still', /^tokens: tokens grow/, (store) =>
    telling(store, 'held', { token: 7n }),
  ),
  broken('nobody learns of a takeover', /^takeover: /, (store) =>
    telling(store, 'held', { takeover: undefined }),
  ),
  broken('holders do not hear of waiters', /^claim: a holder is told whether/, (store) =>
    telling(store, 'held', { waiters: 0 }),
  ),
  broken(
    'waiters are told to ask at once, for ever',
    /^(claim: the first waiter is to ask|expiry: one that asks)/,
    (store) => telling(store, 'waiting', { retryInMs: 0 }),
  ),
  broken('names are folded to lower case', /^names: .*case/, (store) =>
    renamed(store, (name) => name.toLowerCase()),
  ),
  broken('names are normalised', /^names: .*composed/, (store) =>
    renamed(store, (name) => name.normalize()),
  ),
  broken('names end at a NUL', /^names: .*NUL/, (store) =>
    renamed(store, (name) => name.split('\0')[0] ?? ''),
  ),
  broken('names lose the spaces at their ends', /^names: .*spaces/, (store) =>
    renamed(store, (name) => name.trim()),
  ),
  broken('long names are cut', /^names: .*long/, (store) =>
    renamed(store, (name) => name.slice(0, 255)),
  ),
  broken('an eviction is only claimed to be done', /^evict: /, () => ({ evict: async () => true })),
  broken('an eviction is always immediate', /^evict: .*stays until its TTL/, (store) => ({
    evict: (resource, number, { reason }) => store.evict(resource, number, { reason, now: true }),
  })),
  broken(
    'nobody learns why they were evicted',
    /^evict: an evicted claim is told the reason/,
    (store) => ({
      evict: (resource, number, { now }) =>
        store.evict(resource, number, { reason: 'unknown', now }),
    }),
  ),
  broken('a downgrade gives a new claim', /^downgrade: .*keeps its token/, (store) => ({
    downgrade: (claim) => readInstead(store, claim),
  })),
  broken(
    'long lives are kept as 31 bits of µs',
    /^claim: a claim lives as long as it asked/,
    (store) =>
      claiming(store, (claim) => ({ ...claim, ttlMs: Math.min(claim.ttlMs, 2 ** 31 / 1000) })),
  ),
  broken(
    'waiters are told to ask only after a whole TTL',
    /^(claim: another waiter is to ask|release: a waiter behind a release)/,
    (store) => telling(store, 'waiting', { retryInMs: 20_000 }),
  ),
  broken('a full queue does not know who stands in it', /^claim: a bounded queue/, (store) => {
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
  }),
  broken('tombstones crumble', /^release: a late copy is refused for as long/, (store) => ({
    release: (claims, after) =>
      store.release(
        claims.map((claim) => ({ ...claim, ttlMs: claim.ttlMs / 10 })),
        after,
      ),
  })),
  broken(
    'the dead get no tombstone',
    /^release: a late copy of a claim that has died/,
    (store) => ({
      release: async (claims, after) => {
        const [status] = await store.renew(claims);
        return status?.state === 'gone' ? [false] : store.release(claims, after);
      },
    }),
  ),
  broken('a waiting writer is downgraded', /^downgrade: a writer that waits/, (store) => ({
    async downgrade(claim) {
      const status = await store.downgrade(claim);
      return status.state === 'waiting' ? readInstead(store, claim) : status;
    },
  })),
  broken('nobody is evicted twice', /^evict: an evicted claim that still holds/, (store) => {
    const evicted = new Set<bigint>();
    return {
      evict: async (resource, number, options) => {
        if (evicted.has(number)) return false;
        evicted.add(number);
        return store.evict(resource, number, options);
      },
    };
  }),
  broken(
    'an ending is told again and again',
    /^takeover: a holder learns of the hold before its own/,
    (store) => {
      let first: Takeover | undefined;
      return answering(store, (status) => {
        if (status.state !== 'held') return status;
        first ??= status.takeover;
        return { ...status, takeover: first };
      });
    },
  ),
  broken(
    'each kind of lock counts for itself',
    /^tokens: tokens grow although the kind/,
    (store) => {
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
  ),
  broken(
    'numbers are put in order as text',
    /^inspect and list: holders and waiters are shown in growing/,
    (store) => ({
      async inspect(resource) {
        const queue = await store.inspect(resource);
        const asText = (a: Member, b: Member) => (`${a.number}` < `${b.number}` ? -1 : 1);
        return { ...queue, waiters: queue.waiters.toSorted(asText) };
      },
    }),
  ),
  broken('a look is a heartbeat', /^inspect and list: a look extends nothing/, (store) => {
    const { entered, claim } = noting(store);
    return {
      claim,
      inspect: async (resource) => {
        await store.renew(entered);
        return store.inspect(resource);
      },
    };
  }),
  broken(
    'a connection takes its claims with it',
    /^expiry: claims outlive the connection/,
    (store) => {
      const { entered, claim } = noting(store);
      return {
        claim,
        close: async () => void (await store.release(entered)),
      };
    },
  ),
  broken('a list ignores the prefix', /^names: a list takes its prefix/, (store) => ({
    list: () => store.list(''),
  })),
  broken('the secret id is shown', /^claim: the id of a claim stays secret/, (store) =>
    claiming(store, (claim) => ({ ...claim, holder: { ...claim.holder, label: claim.id } })),
  ),
  ...BROKEN_STEPS,
  ...BROKEN_MEMORY,
  ...BROKEN_PASSING,
  ...BROKEN_HINTS,
];

/** The same store as a plain object; broken if anything is to be. */
export function brokenStore(store: Store, one?: BrokenStore): Store {
  const plain = aroundStore(store, (_request, next) => next());
  return { ...plain, ...one?.break(store) };
}
