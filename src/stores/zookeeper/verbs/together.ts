/**
 * Tries that enter together: one `multi` makes a node for each of them, or none.
 *
 * Invariant: no claim comes into any of the queues between the look that finds room in all of them
 * and the step, so all are admitted as they are made. A node's number is the count of the children
 * that its queue has had, and the look shows that count. The step makes each node, and checks that
 * its name has that number. If another claim came first, the number is greater, the check fails,
 * and nothing is made; then all look again. Claims that leave only make room. A queue that is
 * missing is made in the same step. So of two that race, one has all of its nodes first.
 * All share the session of the longest TTL. After a lost reply the nodes may be there, but the try
 * is over: a release, or this process after the TTL, finds each node by its claim's id.
 * What would break it: the same count of another queue. Servers may remove an empty queue after the
 * look, and others make it again; the version of its note differs, unless as many holds have noted
 * their ends. After two billion claims, the count overflows. Even then the list that follows the
 * step shows which claims do not hold, and they leave: no lock has two holders, but the others are
 * held until they are given back.
 */
import { Answer, type Soon } from '../../../base/answer.ts';
import { failedWith } from '../../../clients/zookeeper/errors.ts';
import { type MultiStep, protectedName } from '../../../clients/zookeeper/zookeeper-session.ts';
import { StoreError } from '../../../contract/errors.ts';
import { REFUSED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus } from '../../../contract/store.ts';
import { errorStatus } from '../../batch.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import type { KeptSession } from '../kept-session.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { baseOf, dataOf, type NodeView } from '../places.ts';
import { begin, entered, forget, settle } from './claim.ts';

/** All of these tries, or none. */
export function enterTogether(
  parts: ZookeeperParts,
  claims: readonly Claim[],
): Answer<ClaimStatus[]> {
  const longestMs = Math.max(...claims.map(({ ttlMs }) => ttlMs));
  return parts.sessions.lend(longestMs).chain<ClaimStatus[]>((kept) => {
    const earlier = claims.map((claim) => entered(parts, claim));
    // A copy makes nothing.
    if (earlier.some((status) => status !== undefined)) {
      return Answer.all(earlier.map((status) => Answer.of<ClaimStatus>(() => status ?? REFUSED)));
    }
    const owns = claims.map((claim) => parts.own.add(claim, kept));
    const sentAt = parts.clock.now();
    const made = Answer.from(makeNodes(parts, kept, owns)).or((error): never => {
      const unsure = (error as Partial<StoreError>).outcome === 'unknown';
      for (const own of owns) {
        own.tried = unsure;
        own.left ||= unsure;
        if (!unsure) parts.own.forget(own);
      }
      throw error;
    });
    const settling = owns.map((own, n) => {
      const settles = (refused: readonly GoneStatus[]): Soon<ClaimStatus> =>
        refused[n] ?? settle(parts, own, sentAt);
      return begin(parts, own, () => made.chain(settles)).or(errorStatus);
    });
    return Answer.all(settling);
  });
}

/** Returns refusals, one for each, if nothing was made; else none. */
async function makeNodes(
  parts: ZookeeperParts,
  kept: KeptSession,
  owns: readonly ZookeeperClaim[],
  tries = 0,
): Promise<readonly GoneStatus[]> {
  const looks = owns.map(({ claim }) => parts.own.queue(claim.resource).look(kept));
  const views = await Answer.all(looks);
  const seen = owns.map((own, n) => ({ own, view: views[n] as NodeView }));
  if (tries === MOST_TRIES || !seen.every(({ own, view }) => view.admits(own.claim))) {
    return seen.map(({ own, view }) => forget(parts, own, view.misfit(own.claim.kind) ?? REFUSED));
  }
  const nodes = seen.map(({ own, view }) => nextNode(parts, own, view));
  const paths = nodes.map((steps) => steps.at(-1)?.path ?? '');
  // Sent together. Servers of 3.8 answer a `multi` with paths alone, and one transaction makes all.
  const steps = kept.session.multi(nodes.flat(), kept.within).catch(unlessOvertaken);
  const reads = kept.session.exists(paths[0] ?? '', kept.within).catch(unread);
  const [made, stat] = await Promise.all([steps, reads]);
  if (!made) return makeNodes(parts, kept, owns, tries + 1);
  for (const [n, own] of owns.entries()) {
    own.path = paths[n];
    if (stat) own.number = stat.czxid;
  }
  return [];
}

/** The last step names the node, if its queue is as it was seen. */
function nextNode(
  { tree }: ZookeeperParts,
  { claim, id, kept }: ZookeeperClaim,
  { note }: NodeView,
): MultiStep[] {
  const queue = tree.queue(claim.resource);
  const path = `${queue}/${protectedName(id, baseOf(claim, kept.recipe))}`;
  return [
    note
      ? { step: 'check', path: queue, version: note.version }
      : { step: 'create', path: queue, kind: 'container' },
    { step: 'create', path, data: dataOf(claim), kind: 'ephemeral-sequential' },
    { step: 'check', path: path + String(note?.next ?? 0).padStart(10, '0') },
  ];
}

/** The nodes may be there, but not their token. */
function unread(cause: StoreError): never {
  const { message, retryable } = cause;
  throw new StoreError(message, { cause, retryable, outcome: 'unknown' });
}

/** Nothing was made, because a queue is not as it was seen. */
function unlessOvertaken(error: unknown): undefined {
  const reasons = ['NONODE', 'NODEEXISTS', 'BADVERSION'] as const;
  if (!reasons.some((reason) => failedWith(error, reason))) throw error;
}
