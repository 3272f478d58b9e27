/**
 * Tries that enter their queues together: one `multi` makes the nodes of all.
 *
 * Invariant: none is told that it holds unless all hold. Their nodes are made together, once a look
 * has found that each would be admitted; if another claim was quicker in one of the queues, all
 * leave again. Until then they block others, as a single try does: so concurrent tries, and only
 * those, may fail although nothing is held. A `multi` is of one session, so that is the one of the
 * longest ttl.
 * What would break it: a status that is told before the last of them is settled.
 */
import { failedWith } from '../../../clients/zookeeper/errors.ts';
import type { StepAnswer } from '../../../clients/zookeeper/wire/requests.ts';
import { type MultiStep, protectedPath } from '../../../clients/zookeeper/zookeeper-session.ts';
import type { StoreError } from '../../../contract/errors.ts';
import { REFUSED, UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { refusals } from '../../../queue/all-or-none.ts';
import type { KeptSession } from '../kept-session.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { baseOf, dataOf } from '../places.ts';
import { enter, makeContainers, settle } from './claim.ts';
import { leave } from './release.ts';

/** @throws StoreError */
export async function enterAll(
  parts: ZookeeperParts,
  claims: readonly Claim[],
): Promise<ClaimStatus[]> {
  const kept = await parts.sessions.lend(Math.max(...claims.map(({ ttlMs }) => ttlMs)));
  const known = (claim: Claim) => parts.tombstones.find(claim) ?? parts.own.find(claim);
  // A copy finds what became of the first.
  if (claims.some(known)) {
    return Promise.all(claims.map((claim) => (known(claim) ? enter(parts, claim) : REFUSED)));
  }
  const all = claims.map((claim) => parts.own.add(claim, kept));
  const entering = enterTogether(parts, all, kept);
  for (const [i, own] of all.entries()) {
    const end = (): void => {
      own.entering = undefined;
    };
    own.entering = entering.then((statuses) => statuses[i] ?? UNKNOWN);
    own.entering.then(end, end);
  }
  return entering;
}

async function enterTogether(
  parts: ZookeeperParts,
  all: readonly ZookeeperClaim[],
  kept: KeptSession,
): Promise<ClaimStatus[]> {
  const sentAt = parts.clock.now();
  const looks = all.map(async ({ claim }) => {
    const view = await parts.own.queue(claim.resource).look(kept);
    return view.admits(claim) ? undefined : (view.misfit(claim.kind) ?? REFUSED);
  });
  const refused = refusals(await Promise.all(looks));
  if (refused) {
    for (const own of all) parts.own.forget(own);
    return refused;
  }
  await makeNodes(parts, all, kept);
  const statuses = await Promise.all(all.map((own) => settle(parts, own, sentAt)));
  if (statuses.every(({ state }) => state === 'held')) return statuses;
  const left = all.flatMap(({ claim }) => parts.own.find(claim) ?? []);
  await Promise.all(left.map((own) => leave(parts, own)));
  return statuses.map((status) => (status.state === 'held' ? REFUSED : status));
}

async function makeNodes(
  parts: ZookeeperParts,
  all: readonly ZookeeperClaim[],
  { session, recipe, within }: KeptSession,
): Promise<void> {
  const steps = all.map((own): MultiStep => {
    const parent = parts.tree.queue(own.claim.resource);
    const path = protectedPath(parent, own.id, baseOf(own.claim, recipe));
    // If the reply is lost, its release looks for it.
    own.tried = true;
    return { step: 'create', path, data: dataOf(own.claim), kind: 'ephemeral-sequential' };
  });
  for (;;) {
    const made = await session.multi(steps, within).catch((error: unknown) => {
      if (failedWith(error, 'NONODE')) return undefined;
      const unknown = (error as Partial<StoreError>).outcome === 'unknown';
      if (!unknown) for (const own of all) parts.own.forget(own);
      throw error;
    });
    if (made) {
      // One transaction has made them all, so they have one number.
      const stat = await session.exists(pathIn(made[0]), within);
      for (const [i, own] of all.entries()) {
        own.path = pathIn(made[i]);
        own.number = stat?.czxid ?? 0n;
      }
      return;
    }
    for (const own of all) await makeContainers(parts, own);
  }
}

function pathIn(answer: StepAnswer): string {
  return answer && 'path' in answer ? answer.path : '';
}
