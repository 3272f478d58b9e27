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
import type { Claim, ClaimStatus, Store, Traits } from '../../contract/store.ts';
import { errorStatus } from '../batch.ts';
import { CONSENSUS } from '../consensus/terms.ts';
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

export const TRAITS: Traits = { ...CONSENSUS, tokens: 'transaction ids' };

export interface ZookeeperStoreParts {
  readonly client: ZookeeperClient;
  readonly tree: Tree;
  readonly clock: Clock;
  readonly maxWaiters: number;
}

export function zookeeperStoreOf(given: ZookeeperStoreParts): Store {
  const { tree, clock } = given;
  const own = new ZookeeperClaims(tree, clock);
  const sessions = new Sessions({
    ...given,
    alarm: (claims: Iterable<ZookeeperClaim>) => own.alarm(claims),
    clear: (claim: ZookeeperClaim) => clear(parts, claim),
    drop: (claim: ZookeeperClaim) => own.forget(claim),
  });
  const tombstones = new Tombstones(tree, clock);
  const parts: ZookeeperParts = { ...given, sessions, own, tombstones };
  const records = new NodeRecords(parts);
  const latch = tree.recipe === 'latch';
  // All kinds are the same latch, which one at a time holds.
  const inRecipe = (claim: Claim): Claim =>
    latch ? { ...claim, kind: 'mutex', permits: 1, limit: 1 } : claim;
  return {
    name: 'zookeeper',
    traits: latch ? { ...TRAITS, permits: false, replaces: false } : TRAITS,
    get lineage() {
      return sessions.lineage ?? 'zookeeper';
    },
    claim: (claims) => enterInRuns(parts, claims.map(inRecipe)),
    claimAll: (claims) => enterTogether(parts, claims.map(inRecipe)),
    renew: (claims) => renewAll(parts, claims),
    release(claims, after) {
      const leaves = (claim: Claim): Soon<boolean> => release(parts, claim, after?.ms ?? 0);
      // All are tried, even if one fails.
      return Answer.all(claims.map((claim) => Answer.of<boolean>(() => leaves(claim))));
    },
    inspect: (resource) => inspect(parts, resource),
    watch: (claim, wake) => own.subscribe(claim, wake),
    async downgrade(claim) {
      const known = own.find(claim);
      const status = known && (await downgrade(parts, known));
      return status ?? (await renewAll(parts, [claim]))[0] ?? EXPIRED;
    },
    evict: (resource, number, eviction) => evict(parts, resource, number, eviction),
    keep: (claim, record) => records.keep(claim, record),
    recall: (resource) => records.recall(resource),
    list: (prefix) => list(parts, prefix),
    close: async () => sessions.close(),
  };
}

/** Claims of one resource that need not wait for each other. */
interface Run {
  readonly claim: Claim;
  readonly after: Answer<unknown> | undefined;
  readonly statuses: Answer<ClaimStatus>[];
}

function enterInRuns(parts: ZookeeperParts, claims: readonly Claim[]): Answer<ClaimStatus[]> {
  const runs = new Map<string, Run>();
  const statuses = claims.map((claim) => {
    const last = runs.get(claim.resource);
    const run: Run =
      last && follows(last.claim, claim)
        ? last
        : { claim, after: last && Answer.all(last.statuses), statuses: [] };
    runs.set(claim.resource, run);
    const enters = (): Soon<ClaimStatus> => enter(parts, claim);
    const status = Answer.of<ClaimStatus>(() => follow(run.after, enters)).or(errorStatus);
    run.statuses.push(status);
    return status;
  });
  return Answer.all(statuses);
}

/**
 * A session makes nodes in the order of the calls; a try makes its node after a look, and a claim
 * that does not fit leaves again.
 */
function follows(before: Claim, claim: Claim): boolean {
  const alike = before.ttlMs === claim.ttlMs && sameQueue(before.kind, claim.kind);
  return before.queue && claim.queue && alike;
}
