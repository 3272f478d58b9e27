/**
 * Claims that enter their queues: one round trip makes a node and lists the queue.
 *
 * The node's name has the claim's id, and a retry first looks for a node that may have been made
 * (`createProtected`), so a claim that is sent twice is one. A try looks first, and makes a node
 * only if it would be admitted; if another claim was quicker, it leaves again. Until then it blocks
 * other tries, so concurrent tries, and only those, may fail although nothing is held.
 * A free lock is answered in the turn of the reply; only what has to ask more awaits promises.
 */
import { Answer, follow, type Soon } from '../../../base/answer.ts';
import { failedWith, unlessMissing, unlessThere } from '../../../clients/zookeeper/errors.ts';
import type { Created } from '../../../clients/zookeeper/wire/requests.ts';
import { type StoreError, temporaryFailure } from '../../../contract/errors.ts';
import { full, REFUSED, UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus } from '../../../contract/store.ts';
import type { KeptSession } from '../kept-session.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { baseOf, dataOf, type NodePlace, type NodeView } from '../places.ts';
import { readDetails } from '../reading.ts';
import { leave } from './release.ts';

/** At this number, queues that Curator may share are closed: their numbers soon overflow. */
const LAST_NUMBER = 2 ** 31 - 2 ** 16;
const NEAR_OVERFLOW =
  'The numbers of this queue are about to overflow. It starts over once it is empty.';

export function enter(parts: ZookeeperParts, claim: Claim): Soon<ClaimStatus> {
  // It may be released while it waits for a session, or a copy may enter.
  const begins = (kept: KeptSession): Soon<ClaimStatus> =>
    entered(parts, claim) ?? begin(parts, parts.own.add(claim, kept));
  return entered(parts, claim) ?? parts.sessions.lend(claim.ttlMs).chain(begins);
}

/** What has become of an earlier request; undefined: there was none. */
export function entered(parts: ZookeeperParts, claim: Claim): Soon<ClaimStatus> | undefined {
  const known = parts.own.find(claim);
  return parts.tombstones.find(claim.id) ?? (known && again(parts, known));
}

/** An earlier request may be under way, carried out or lost. */
async function again(parts: ZookeeperParts, own: ZookeeperClaim): Promise<ClaimStatus> {
  if (own.left) return UNKNOWN;
  if (own.entering) return own.entering;
  if (own.sealed) return ending(parts, own);
  if (own.kept.over) return lose(parts, own);
  if (own.path === undefined || !own.entered) return begin(parts, own);
  const at = parts.clock.now();
  const queue = parts.own.queue(own.claim.resource);
  const [details] = await Promise.all([readDetails(own.kept, own.path), queue.look(own.kept)]);
  if (!details) return miss(parts, own);
  own.sealed ??= details.sealed;
  return own.status(at);
}

export function begin(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
  make: () => Soon<ClaimStatus> = () => makeNode(parts, own),
): Answer<ClaimStatus> {
  const entering = Answer.of<ClaimStatus>(make);
  own.entering = entering;
  return entering.always(() => {
    own.entering = undefined;
  });
}

function makeNode(parts: ZookeeperParts, own: ZookeeperClaim): Soon<ClaimStatus> {
  const { claim, kept } = own;
  const queue = parts.own.queue(claim.resource);
  const sentAt = parts.clock.now();
  if (own.path !== undefined) return settle(parts, own, sentAt);
  const enters = (): Answer<ClaimStatus> => {
    // Sent together: the look comes after the create.
    const listed = queue.look(kept).or(() => undefined);
    const made = create(parts, own).or((error) =>
      listed.map((): never => {
        own.tried ||= (error as Partial<StoreError>).outcome === 'unknown';
        if (!own.tried) parts.own.forget(own);
        throw error;
      }),
    );
    return made.chain(({ path, stat }) =>
      listed.chain((view) => {
        own.path = path;
        own.number = stat.czxid;
        own.version = stat.version;
        return settle(parts, own, sentAt, view);
      }),
    );
  };
  if (claim.queue || own.tried) return enters();
  return queue.look(kept).chain((view): Soon<ClaimStatus> => {
    if (view.admits(claim)) return enters();
    return forget(parts, own, view.misfit(claim.kind) ?? REFUSED);
  });
}

/** Its node is there; it may have to leave again. */
export function settle(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
  sentAt: number,
  listed?: NodeView,
): Soon<ClaimStatus> {
  const { claim, kept } = own;
  const queue = parts.own.queue(claim.resource);
  // Its release waits for this, and deletes the node.
  if (own.left) return UNKNOWN;
  const judge = (view: NodeView): Soon<ClaimStatus> => {
    const index = view.find(own.id);
    own.sequence = view.places[index]?.sequence ?? 0;
    const misfit = view.misfit(claim.kind);
    if (misfit) return withdraw(parts, own, misfit);
    if (index < 0) return miss(parts, own);
    if (overflows(view.places[index])) return startAnew(parts, own);
    const { maxWaiters, tree } = parts;
    if (index >= view.admitted && !claim.queue) return withdraw(parts, own, REFUSED);
    if (index - view.admitted >= maxWaiters && tree.isBounded(claim.resource)) {
      return withdraw(parts, own, full(maxWaiters));
    }
    return follow<void, ClaimStatus>(queue.stand(own, { view }), () => {
      own.entered = true;
      return own.status(sentAt);
    });
  };
  const seen = listed && listed.find(own.id) >= 0;
  return seen ? judge(listed) : queue.look(kept).chain(judge);
}

function create(parts: ZookeeperParts, own: ZookeeperClaim): Answer<Created> {
  const { claim, kept, id, tried } = own;
  const parent = parts.own.queue(claim.resource).path;
  const name = baseOf(claim, kept.recipe);
  const terms = { parent, id, name, tried, data: dataOf(claim), ...kept.within };
  return Answer.from(kept.session.createProtected(terms)).or(async (error) => {
    unlessMissing(error);
    for (const path of parts.tree.containers(claim.resource)) {
      const container = { kind: 'container', ...kept.within } as const;
      await kept.session.create(path, container).catch(unlessThere);
    }
    return create(parts, own);
  });
}

/** It is there, but must not stay. */
async function withdraw(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
  status: GoneStatus,
): Promise<GoneStatus> {
  await leave(parts, own);
  return status;
}

/** A sealed claim takes no more heartbeats, but may still be evicted. */
export async function ending(parts: ZookeeperParts, own: ZookeeperClaim): Promise<GoneStatus> {
  if (own.kept.over) return lose(parts, own);
  if (await readDetails(own.kept, own.path ?? '')) return own.sealed ?? UNKNOWN;
  return miss(parts, own);
}

/** Its node has gone. */
export async function miss(parts: ZookeeperParts, own: ZookeeperClaim): Promise<GoneStatus> {
  const epitaph = await parts.tombstones.epitaph(own.claim, own.kept);
  const status = epitaph.why === 'evicted' ? epitaph : (own.sealed ?? epitaph);
  if (own.sealed) parts.tombstones.bury(own.claim.id, own.claim.ttlMs, status);
  return forget(parts, own, status);
}

/** Its session is over, and its node with it. */
export function lose(parts: ZookeeperParts, own: ZookeeperClaim): GoneStatus {
  return forget(parts, own, own.sealed ?? { state: 'gone', why: 'session' });
}

export function forget(parts: ZookeeperParts, own: ZookeeperClaim, status: GoneStatus): GoneStatus {
  parts.own.forget(own);
  return status;
}

function overflows(place: NodePlace | undefined): boolean {
  if (place === undefined || place.kind === 'permits') return false;
  return place.sequence < 0 || place.sequence > LAST_NUMBER;
}

/** Numbers begin at 0 again in a new node, for which the queue has to be empty once. */
async function startAnew(parts: ZookeeperParts, own: ZookeeperClaim): Promise<ClaimStatus> {
  const { claim, kept } = own;
  await leave(parts, own);
  const path = parts.tree.queue(claim.resource);
  await kept.session.delete(path, kept.within).catch((error) => {
    if (failedWith(error, 'NOTEMPTY')) throw temporaryFailure(NEAR_OVERFLOW);
    unlessMissing(error);
  });
  return enter(parts, claim);
}
