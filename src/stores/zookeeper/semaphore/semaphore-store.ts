/**
 * Semaphores shared with programs in Java: each is an `InterProcessSemaphoreV2` of Curator.
 *
 * Invariant: a permit is a node below `leases`, and of these no more than the limit hold, the
 * oldest first. A newcomer takes the mutex below `locks` first, and makes its nodes while it has
 * that; so only nodes of one claim at a time are more than fit, and they are the newest. Java
 * admits its newest node when all nodes together are no more than the limit: the same rule. The
 * order is that of the mutex; the token is the transaction that made the first node, which is later
 * than those of all that were admitted before.
 * What would break it: programs that disagree about the limit. A claim that loses the mutex while
 * it waits for a permit leaves with its nodes, because Java waits until all are few enough.
 */
import { permanentFailure } from '../../../contract/errors.ts';
import {
  type Claim,
  type ClaimStatus,
  MAX_BATCH,
  MAX_PERMITS,
  type Store,
} from '../../../contract/store.ts';
import { each, errorStatus } from '../../batch.ts';
import { NONE } from '../../subscription.ts';
import { gateOf, leasesOf } from '../layout.ts';
import { TRAITS, type ZookeeperStoreParts, zookeeperStoreOf } from '../zookeeper-store.ts';
import { SemaphoreClaim } from './semaphore-claim.ts';

export function semaphoreStoreOf(parts: ZookeeperStoreParts): Store {
  const store = zookeeperStoreOf(parts);
  const all = new Map<string, SemaphoreClaim>();

  function known(claim: Claim): SemaphoreClaim {
    const own = all.get(claim.id) ?? new SemaphoreClaim(store, claim);
    all.set(claim.id, own);
    return own;
  }

  async function settled({ id }: Claim, asked: Promise<ClaimStatus>): Promise<ClaimStatus> {
    const status = await asked.catch(errorStatus);
    if (status.state === 'gone') all.delete(id);
    return status;
  }

  return {
    name: 'zookeeper-semaphore',
    traits: { ...TRAITS, queue: false, records: false, sequential: false },
    get lineage() {
      return store.lineage;
    },
    claim: (claims) =>
      each(claims, async (claim) => refusalOf(claim) ?? settled(claim, known(claim).again())),
    async renew(claims) {
      const asked = claims.map((claim) => {
        const refusal = refusalOf(claim);
        if (refusal) return { parts: [], settle: async () => refusal };
        const own = all.get(claim.id) ?? new SemaphoreClaim(store, claim, 'held');
        const parts = own.standing;
        const settle = (statuses: readonly ClaimStatus[]): Promise<ClaimStatus> =>
          settled(claim, own.statusOf(parts, statuses));
        return { parts, settle };
      });
      const found = await renewed(
        store,
        asked.flatMap(({ parts }) => parts),
      );
      return Promise.all(asked.map(({ parts, settle }) => settle(found.splice(0, parts.length))));
    },
    release: (claims, after) =>
      Promise.all(
        claims.map(async (claim) => {
          if (refusalOf(claim)) return false;
          const own = all.get(claim.id) ?? new SemaphoreClaim(store, claim, 'leases');
          all.delete(claim.id);
          return own.leave(claim, after);
        }),
      ),
    // The permits of a claim are members of their own; those at the gate want one or more.
    async inspect(resource) {
      const [leases, gate] = await Promise.all([
        store.inspect(leasesOf(resource)),
        store.inspect(gateOf(resource)),
      ]);
      const waiters = [...leases.waiters, ...gate.waiters];
      // Programs in Java do not tell theirs.
      const limit = leases.limit === MAX_PERMITS ? undefined : leases.limit;
      return { resource, limit, holders: leases.holders, waiters };
    },
    async watch(claim, wake) {
      if (refusalOf(claim)) return NONE;
      const own = known(claim);
      const watches = await own.watch(wake);
      return {
        [Symbol.asyncDispose]: async () => {
          if (!own.begun) all.delete(claim.id);
          for (const watch of watches) await watch?.[Symbol.asyncDispose]();
        },
      };
    },
    close: async () => store.close?.(),
  };
}

async function renewed(store: Store, parts: readonly Claim[]): Promise<ClaimStatus[]> {
  const statuses: ClaimStatus[] = [];
  for (let n = 0; n < parts.length; n += MAX_BATCH) {
    statuses.push(...(await store.renew(parts.slice(n, n + MAX_BATCH))));
  }
  return statuses;
}

/** The refusal of what these nodes cannot carry. */
function refusalOf({ kind, permits }: Claim): ClaimStatus | undefined {
  if (kind === 'read') {
    return { state: 'gone', why: 'mismatch', detail: 'it is a semaphore, without readers' };
  }
  if (kind !== 'permits' || permits <= MAX_BATCH) return undefined;
  const message = `A claim may have ${MAX_BATCH} permits, as each is a node, and not ${permits}.`;
  return errorStatus(permanentFailure(message));
}
