/** Downgrades, and claims that are ended by force; each only if the claim is as it was read. */
import { failedWith } from '../../../clients/zookeeper/errors.ts';
import type { MultiStep } from '../../../clients/zookeeper/zookeeper-session.ts';
import { permanentFailure, temporaryFailure } from '../../../contract/errors.ts';
import type { ClaimStatus, Eviction } from '../../../contract/store.ts';
import { replacedIn } from '../../consensus/replacing.ts';
import { MOST_TRIES, type Seal } from '../../consensus/terms.ts';
import type { KeptSession } from '../kept-session.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import {
  asReader,
  type Details,
  dataOf,
  type NodePlace,
  type NodeView,
  REVOKE,
} from '../places.ts';
import { detailed, listQueue } from '../reading.ts';
import { ended } from './release.ts';

const BUSY = 'Other requests kept changing the claim.';
/** A latch in Java watches the one before it once, and takes no notice of a write. */
const NO_WRITE = 'A latch can be evicted `now`, and not later: one in Java would miss its end.';

/** Replaces a writer's node by a reader's with the same number. Undefined: ask by a renewal. */
export async function downgrade(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
): Promise<ClaimStatus | undefined> {
  const sentAt = parts.clock.now();
  const { session, within } = own.kept;
  const queue = parts.own.queue(own.claim.resource);
  const place = (await queue.look(own.kept)).at(own.id);
  if (!place || own.path === undefined || own.sealed || own.left) return undefined;
  // An earlier attempt may have lost its reply.
  const path = `${queue.path}/${asReader(place.name)}`;
  if (place.kind === 'write' && own.held) {
    const data = dataOf(own.claim, { number: own.number });
    const steps = [
      { step: 'delete', path: own.path },
      { step: 'create', path, data, kind: 'ephemeral' },
    ] as const;
    // Set first, so the deletion is no loss; if this fails, heartbeats find the node.
    own.path = path;
    await session.multi(steps, within);
    own.version = 0;
    own.attentive = 'no';
    own.undisturbed = false;
  }
  await queue.look(own.kept);
  return own.status(sentAt);
}

/** Ends the claim with this number: now, or with its ttl. */
export async function evict(
  parts: ZookeeperParts,
  resource: string,
  number: bigint,
  { reason, now }: Eviction,
): Promise<boolean> {
  const kept = await parts.sessions.any();
  const queue = parts.tree.queue(resource);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const view = await listQueue(kept, queue);
    const all = await detailed(kept, queue, view.places);
    const found = all.find(([, details]) => details.number === number);
    if (!found) return false;
    if (found[1].sealed && !now) return true;
    const seal = { sealed: 'evicted', detail: reason } as const;
    if (await expel(parts, { kept, queue, view, found }, { ...seal, now })) return true;
  }
  throw temporaryFailure(BUSY);
}

/** Ends what this claim replaces, and returns the queue that is left. */
export async function replaceOlder(
  parts: ZookeeperParts,
  { claim, id, kept }: ZookeeperClaim,
): Promise<NodeView> {
  const queue = parts.tree.queue(claim.resource);
  const own = { claim, id, maxWaiters: parts.maxWaiters };
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const view = await listQueue(kept, queue);
    const before = view.places.slice(0, Math.max(0, view.find(id)));
    const lives = new Map(await detailed(kept, queue, before));
    const older = replacedIn(view, { ...own, lifeOf: (place) => lives.get(place) });
    if (older.length === 0) return view;
    for (const place of older) {
      const found = [place, lives.get(place) as Details] as const;
      await expel(parts, { kept, queue, view, found }, { sealed: 'replaced', now: false });
    }
  }
  throw temporaryFailure(BUSY);
}

interface FoundNode {
  readonly kept: KeptSession;
  /** The path of its queue. */
  readonly queue: string;
  readonly view: NodeView;
  readonly found: readonly [NodePlace, Details];
}

/** False: it is not as it was read, or a waiter may have been admitted meanwhile. */
async function expel(
  { tree, tombstones }: ZookeeperParts,
  { kept, queue, view, found: [place, details] }: FoundNode,
  { now, ...seal }: Seal & Pick<Eviction, 'now'>,
): Promise<boolean> {
  const pathOf = ({ name }: NodePlace): string => `${queue}/${name}`;
  const path = pathOf(place);
  const holds = view.places.indexOf(place) < view.admitted;
  const { id, foreign, sequence } = place;
  const { number, version, ttlMs = 0, holder } = details;
  const bars = now ? [] : view.barring(place);
  if (!now && bars.length === 0) {
    if (tree.recipe === 'latch') throw permanentFailure(NO_WRITE);
    // Its process ends it after its ttl; one of Curator's, when it chooses.
    const data = foreign ? REVOKE : dataOf({ ttlMs, holder }, { ...seal, lasts: ttlMs, number });
    return unless(kept.session.setData(path, data, { version, ...kept.within }));
  }
  const steps: MultiStep[] = [{ step: 'delete', path, version }];
  for (const bar of bars) steps.push({ step: 'check', path: pathOf(bar) });
  if (!foreign && id !== undefined) steps.push(tombstones.burial(id, seal));
  const note = { reason: 'evicted', token: number, sequence } as const;
  const done = await unless(ended(kept, { steps, queue, note: holds ? note : undefined }));
  if (done) void tombstones.sweep(kept);
  return done;
}

/** False: it changed after the read. */
async function unless(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (failedWith(error, 'NONODE') || failedWith(error, 'BADVERSION')) return false;
    throw error;
  }
}
