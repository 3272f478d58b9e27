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
import { oneCluster } from '../../clients/etcd/one-cluster.ts';
import type { Claim, ClaimStatus, Store, Traits } from '../../contract/store.ts';
import { errorStatus, grouped } from '../batch.ts';
import { CONSENSUS } from '../consensus/terms.ts';
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

const TRAITS: Traits = {
  ...CONSENSUS,
  tokens: 'create revisions',
  atomicTry: true,
  ttlStepMs: 1000,
};

export interface EtcdStoreParts extends EtcdContext {
  /** Whether the store closes the client. Default: true. */
  readonly owned?: boolean;
  readonly maxWaiters: number;
}

export function etcdStoreOf({ owned = true, ...given }: EtcdStoreParts): Store {
  const client = oneCluster(given.client, owned);
  const context = { ...given, client };
  const own = new EtcdClaims(context);
  const parts: EtcdParts = { ...context, leases: new Leases(context), own };
  return {
    name: 'etcd',
    traits: TRAITS,
    get lineage() {
      return client.cluster === undefined ? 'etcd' : `etcd:${client.cluster.toString(16)}`;
    },
    claim: (claims) => inWaves(claims, (wave) => enterByTtl(parts, wave)),
    claimAll: (claims) => enterAll(parts, claims, enterTogether),
    renew: async (claims) => (claims.length === 0 ? [] : renewAll(parts, claims)),
    release(claims, after) {
      const ms = after?.ms ?? 0;
      if (ms > 0) return releaseLater(parts, claims, ms);
      return inWaves(claims, (wave) => leaveAll(parts, wave));
    },
    inspect: (resource) => inspect(parts, resource),
    watch: (claim, wake) => own.subscribe(claim, wake),
    downgrade: (claim) => downgrade(parts, claim),
    evict: (resource, number, eviction) => evict(parts, resource, number, eviction),
    keep: (claim, record) => keep(parts, claim, record),
    recall: (resource) => recall(parts, resource),
    handOver: (claim, ids) => handOver(parts, claim, ids),
    list: (prefix) => list(parts, prefix),
    async close() {
      own.close();
      client.close();
    },
  };
}

/** No lease holds up claims on another. */
function enterByTtl(parts: EtcdParts, wave: readonly Claim[]): Answer<ClaimStatus[]> {
  const groups = [...grouped(wave, ({ ttlMs }) => Math.ceil(ttlMs / 1000)).values()];
  const entering = groups.map((all) =>
    enterAll(parts, all).or((error) => all.map(() => errorStatus(error))),
  );
  return Answer.all(entering).map((answers) => {
    const statuses = answers.flat();
    const byClaim = new Map(groups.flat().map((claim, n) => [claim, statuses[n]]));
    return wave.map((claim) => byClaim.get(claim) as ClaimStatus);
  });
}

/** In order, because a departure may admit a later claim. */
async function releaseLater(
  parts: EtcdParts,
  claims: readonly Claim[],
  ms: number,
): Promise<boolean[]> {
  const left: boolean[] = [];
  for (const claim of claims) left.push(await leaveLater(parts, claim, ms));
  return left;
}
