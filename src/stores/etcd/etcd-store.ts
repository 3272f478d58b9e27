/**
 * Locks in etcd: the verbs of the contract as transactions.
 *
 * Invariant: a queue is the keys of its claims in the order of their create revisions, and the
 * claims before one decide whether it is admitted (queue-view.ts). So no two processes can decide
 * differently, and there is nothing to repair. A claim lives as long as its lease (lease.ts), which
 * all claims of this process with one TTL share; its token is its create revision, which the
 * cluster has agreed upon. A queue with waiters has one watch (following.ts), so an admitted
 * claim knows it without asking.
 * What would break it: a deposed leader that lets a living lease end. Then the fence holds, in a
 * transaction that compares the create revision of the key.
 */
import { Answer } from '../../base/answer.ts';
import { type OneCluster, oneCluster } from '../../clients/etcd/one-cluster.ts';
import { EXPIRED } from '../../contract/gone.ts';
import type { HandOver } from '../../contract/hand-over.ts';
import type { Kept, RecordTerms } from '../../contract/records.ts';
import type {
  Claim,
  ClaimStatus,
  Eviction,
  Queue,
  Store,
  Subscribed,
  Traits,
  Wake,
} from '../../contract/store.ts';
import { errorStatus, grouped } from '../batch.ts';
import type { EtcdContext } from './layout.ts';
import { Leases } from './leases.ts';
import { EtcdClaims, type EtcdParts } from './own-claims.ts';
import { inWaves } from './together.ts';
import { downgrade, evict } from './verbs/change.ts';
import { enterAll, enterTogether } from './verbs/claim.ts';
import { handOver } from './verbs/hand-over.ts';
import { inspect, list } from './verbs/inspect.ts';
import { keep, recall } from './verbs/keep.ts';
import { leaveAll, leaveLater } from './verbs/release.ts';
import { renewAll } from './verbs/renew.ts';

export const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: 'create revisions',
  atomicTry: true,
  liveness: 'session',
  clock: 'server',
  failover: 'linearizable',
  reach: 'network',
  records: true,
  replaces: true,
  ttlStepMs: 1000,
  sequential: true,
  hintsGrant: true,
};

export interface EtcdStoreParts extends EtcdContext {
  /** Whether the store closes the client. Default: true. */
  readonly owned?: boolean;
  readonly maxWaiters: number;
}

export class EtcdStore implements Store {
  readonly name = 'etcd';
  readonly traits: Traits = TRAITS;
  readonly #parts: EtcdParts;
  readonly #client: OneCluster;

  constructor(parts: EtcdStoreParts) {
    const client = oneCluster(parts.client, parts.owned ?? true);
    const known = { ...parts, client };
    this.#client = client;
    const leases = new Leases(known);
    this.#parts = { ...known, leases, own: new EtcdClaims(known) };
  }

  get lineage(): string {
    const { cluster } = this.#client;
    return cluster === undefined ? 'etcd' : `etcd:${cluster.toString(16)}`;
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return inWaves(claims, (wave) => {
      // No lease holds up claims on another.
      const groups = [...grouped(wave, ({ ttlMs }) => Math.ceil(ttlMs / 1000)).values()];
      const entering = groups.map((all) => {
        const failed = (error: unknown): ClaimStatus[] => all.map(() => errorStatus(error));
        return enterAll(this.#parts, all).or(failed);
      });
      return Answer.all(entering).map((answers) => {
        const statuses = answers.flat();
        const byClaim = new Map(groups.flat().map((claim, n) => [claim, statuses[n]]));
        return wave.map((claim) => byClaim.get(claim) as ClaimStatus);
      });
    });
  }

  claimAll(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return enterAll(this.#parts, claims, enterTogether);
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    if (claims.length === 0) return Promise.resolve([]);
    return renewAll(this.#parts, claims);
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    const ms = after?.ms ?? 0;
    if (ms > 0) return this.#releaseLater(claims, ms);
    return inWaves(claims, (wave) => leaveAll(this.#parts, wave));
  }

  async #releaseLater(claims: readonly Claim[], ms: number): Promise<boolean[]> {
    const left: boolean[] = [];
    // In order, because a departure may admit a later claim.
    for (const claim of claims) left.push(await leaveLater(this.#parts, claim, ms));
    return left;
  }

  inspect(resource: string): Promise<Queue> {
    return inspect(this.#parts, resource);
  }

  watch(claim: Claim, wake: Wake): Subscribed {
    return this.#parts.own.subscribe(claim, wake);
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    const status = await downgrade(this.#parts, claim);
    if (status) return status;
    const [gone] = await this.renew([claim]);
    return gone ?? EXPIRED;
  }

  evict(resource: string, number: bigint, eviction: Eviction): Promise<boolean> {
    return evict(this.#parts, resource, number, eviction);
  }

  keep(claim: Claim, record: RecordTerms): Promise<boolean> {
    return keep(this.#parts, claim, record);
  }

  recall(resource: string): Promise<Kept | undefined> {
    return recall(this.#parts, resource);
  }

  handOver(claim: Claim, ids: HandOver): Promise<ClaimStatus> {
    return handOver(this.#parts, claim, ids);
  }

  list(prefix: string): AsyncIterable<string> {
    return list(this.#parts, prefix);
  }

  async close(): Promise<void> {
    this.#parts.own.close();
    this.#client.close();
  }
}
