/**
 * Locks in ZooKeeper: the verbs of the contract as nodes of a queue.
 *
 * Invariant: a queue is the children of one node in the order in which they were made, and the
 * claims before one decide whether it is admitted (queue-view.ts). So no two processes can decide
 * differently, and there is nothing to repair. A node lives as long as its session (sessions.ts); a
 * claim's token is the transaction that made its node, which a majority has agreed upon, and which
 * grows for ever. A waiter watches what stands before it (following.ts), so each admission is
 * noticed.
 * What would break it: clocks of different rates, at the leader that ends a session and in the
 * process that counts on it. Then the fence holds, in a `multi` that checks its version.
 */
import { Answer, follow, type Soon } from '../../base/answer.ts';
import type { Clock } from '../../base/clock.ts';
import type { ZookeeperClient } from '../../clients/zookeeper/client.ts';
import { sameQueue } from '../../contract/admission.ts';
import { EXPIRED } from '../../contract/gone.ts';
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
import { errorStatus } from '../batch.ts';
import type { Tree } from './layout.ts';
import type { ZookeeperClaim } from './own-claim.ts';
import { ZookeeperClaims, type ZookeeperParts } from './own-claims.ts';
import { Sessions } from './sessions.ts';
import { downgrade, evict } from './verbs/change.ts';
import { enter } from './verbs/claim.ts';
import { inspect, list } from './verbs/inspect.ts';
import { NodeRecords } from './verbs/keep.ts';
import { clear, release } from './verbs/release.ts';
import { renewAll } from './verbs/renew.ts';
import { enterTogether } from './verbs/together.ts';
import { Tombstones } from './verbs/tombstones.ts';

export const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: 'transaction ids',
  liveness: 'session',
  clock: 'server',
  failover: 'linearizable',
  reach: 'network',
  records: true,
  replaces: true,
  sequential: true,
  hintsGrant: true,
};

export interface ZookeeperStoreParts {
  readonly client: ZookeeperClient;
  readonly tree: Tree;
  readonly clock: Clock;
  readonly maxWaiters: number;
}

/** Claims of one resource that need not wait for each other. */
interface Run {
  readonly claim: Claim;
  readonly after: Answer<unknown> | undefined;
  readonly statuses: Answer<ClaimStatus>[];
}

/**
 * A session makes nodes in the order of the calls; a try makes its node after a look, and a claim
 * that does not fit leaves again.
 */
function follows(before: Claim, claim: Claim): boolean {
  const alike = before.ttlMs === claim.ttlMs && sameQueue(before.kind, claim.kind);
  return before.queue && claim.queue && alike;
}

export class ZookeeperStore implements Store {
  readonly name = 'zookeeper';
  readonly traits: Traits;
  readonly #parts: ZookeeperParts;
  readonly #keeping: NodeRecords;

  constructor({ client, tree, clock, maxWaiters }: ZookeeperStoreParts) {
    const latch = { ...TRAITS, permits: false, replaces: false };
    this.traits = tree.recipe === 'latch' ? latch : TRAITS;
    const own = new ZookeeperClaims(tree, clock);
    const sessions = new Sessions({
      client,
      tree,
      clock,
      alarm: (claims: Iterable<ZookeeperClaim>) => own.alarm(claims),
      clear: (claim: ZookeeperClaim) => clear(this.#parts, claim),
      drop: (claim: ZookeeperClaim) => own.forget(claim),
    });
    const tombstones = new Tombstones(tree, clock);
    this.#parts = { tree, clock, sessions, own, tombstones, maxWaiters };
    this.#keeping = new NodeRecords(this.#parts);
  }

  get lineage(): string {
    return this.#parts.sessions.lineage ?? 'zookeeper';
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const runs = new Map<string, Run>();
    const statuses = claims.map((given) => {
      const claim = this.#inRecipe(given);
      const last = runs.get(claim.resource);
      const run: Run =
        last && follows(last.claim, claim)
          ? last
          : { claim, after: last && Answer.all(last.statuses), statuses: [] };
      runs.set(claim.resource, run);
      const enters = (): Soon<ClaimStatus> => enter(this.#parts, claim);
      const status = Answer.of<ClaimStatus>(() => follow(run.after, enters)).or(errorStatus);
      run.statuses.push(status);
      return status;
    });
    return Answer.all(statuses);
  }

  claimAll(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const inRecipe = claims.map((claim) => this.#inRecipe(claim));
    return enterTogether(this.#parts, inRecipe);
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return renewAll(this.#parts, claims);
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    const leaves = (claim: Claim): Soon<boolean> => release(this.#parts, claim, after?.ms ?? 0);
    // All are tried, even if one fails.
    return Answer.all(claims.map((claim) => Answer.of<boolean>(() => leaves(claim))));
  }

  inspect(resource: string): Promise<Queue> {
    return inspect(this.#parts, resource);
  }

  watch(claim: Claim, wake: Wake): Subscribed {
    return this.#parts.own.subscribe(claim, wake);
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    const own = this.#parts.own.find(claim);
    const status = own && (await downgrade(this.#parts, own));
    if (status) return status;
    const [gone] = await this.renew([claim]);
    return gone ?? EXPIRED;
  }

  evict(resource: string, number: bigint, eviction: Eviction): Promise<boolean> {
    return evict(this.#parts, resource, number, eviction);
  }

  keep(claim: Claim, record: RecordTerms): Promise<boolean> {
    return this.#keeping.keep(claim, record);
  }

  recall(resource: string): Promise<Kept | undefined> {
    return this.#keeping.recall(resource);
  }

  list(prefix: string): AsyncIterable<string> {
    return list(this.#parts, prefix);
  }

  async close(): Promise<void> {
    this.#parts.sessions.close();
  }

  /** All kinds are the same latch, which one at a time holds. */
  #inRecipe(claim: Claim): Claim {
    if (this.#parts.tree.recipe !== 'latch') return claim;
    return { ...claim, kind: 'mutex', permits: 1, limit: 1 };
  }
}
