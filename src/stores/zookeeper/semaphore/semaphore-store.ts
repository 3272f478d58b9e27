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
  type Queue,
  type Store,
  type Traits,
  type Wake,
} from '../../../contract/store.ts';
import { errorStatus } from '../../batch.ts';
import { NONE } from '../../subscription.ts';
import { gateOf, leasesOf } from '../layout.ts';
import { TRAITS, ZookeeperStore, type ZookeeperStoreParts } from '../zookeeper-store.ts';
import { SemaphoreClaim } from './semaphore-claim.ts';

export class SemaphoreStore implements Store {
  readonly name = 'zookeeper-semaphore';
  readonly traits: Traits = { ...TRAITS, queue: false, records: false, sequential: false };
  readonly #store: Store;
  readonly #claims = new Map<string, SemaphoreClaim>();

  constructor(parts: ZookeeperStoreParts) {
    this.#store = new ZookeeperStore(parts);
  }

  get lineage(): string {
    return this.#store.lineage;
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const statuses = claims.map(async (claim) => {
      return refusalOf(claim) ?? this.#settled(claim, this.#known(claim).again(this.#store));
    });
    return Promise.all(statuses);
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const asked = claims.map((claim) => {
      const refusal = refusalOf(claim);
      if (refusal) return { parts: [], settle: async () => refusal };
      const known = this.#claims.get(claim.id) ?? new SemaphoreClaim(claim, 'held');
      const parts = known.standing;
      const settle = (statuses: readonly ClaimStatus[]): Promise<ClaimStatus> =>
        this.#settled(claim, known.statusOf(this.#store, parts, statuses));
      return { parts, settle };
    });
    const statuses = await this.#renew(asked.flatMap(({ parts }) => parts));
    return Promise.all(asked.map(({ parts, settle }) => settle(statuses.splice(0, parts.length))));
  }

  async release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    return Promise.all(
      claims.map(async (claim) => {
        if (refusalOf(claim)) return false;
        const known = this.#claims.get(claim.id) ?? new SemaphoreClaim(claim, 'leases');
        this.#claims.delete(claim.id);
        return known.leave(this.#store, claim, after);
      }),
    );
  }

  /** The permits of a claim are members of their own; those at the gate want one or more. */
  async inspect(resource: string): Promise<Queue> {
    const [leases, gate] = await Promise.all([
      this.#store.inspect(leasesOf(resource)),
      this.#store.inspect(gateOf(resource)),
    ]);
    const waiters = [...leases.waiters, ...gate.waiters];
    // Programs in Java do not tell theirs.
    const limit = leases.limit === MAX_PERMITS ? undefined : leases.limit;
    return { resource, limit, holders: leases.holders, waiters };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    if (refusalOf(claim)) return NONE;
    const known = this.#known(claim);
    const watches = await known.watch(this.#store, wake);
    return {
      [Symbol.asyncDispose]: async () => {
        if (!known.begun) this.#claims.delete(claim.id);
        for (const watch of watches) await watch?.[Symbol.asyncDispose]();
      },
    };
  }

  close(): Promise<void> {
    return this.#store.close?.() ?? Promise.resolve();
  }

  #known(claim: Claim): SemaphoreClaim {
    const known = this.#claims.get(claim.id) ?? new SemaphoreClaim(claim);
    this.#claims.set(claim.id, known);
    return known;
  }

  async #settled({ id }: Claim, asked: Promise<ClaimStatus>): Promise<ClaimStatus> {
    const status = await asked.catch(errorStatus);
    if (status.state === 'gone') this.#claims.delete(id);
    return status;
  }

  async #renew(parts: readonly Claim[]): Promise<ClaimStatus[]> {
    const statuses: ClaimStatus[] = [];
    for (let n = 0; n < parts.length; n += MAX_BATCH) {
      statuses.push(...(await this.#store.renew(parts.slice(n, n + MAX_BATCH))));
    }
    return statuses;
  }
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
