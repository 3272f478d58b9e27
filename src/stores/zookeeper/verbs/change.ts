/** Downgrades and evictions; each writes only if the claim is still as it was read. */
import { failedWith } from '../../../clients/zookeeper/errors.ts';
import type { MultiStep } from '../../../clients/zookeeper/zookeeper-session.ts';
import { permanentFailure, temporaryFailure } from '../../../contract/errors.ts';
import type { ClaimStatus, Eviction } from '../../../contract/store.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { asReader, dataOf, REVOKE } from '../places.ts';
import { detailed, listQueue } from '../reading.ts';
import { ended } from './release.ts';

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

/**
 * Ends the claim with this number: now, or with its ttl. A waiter leaves at once unless its turn
 * may have come meanwhile: those that keep it waiting have to be there.
 */
export async function evict(
  parts: ZookeeperParts,
  resource: string,
  number: bigint,
  { reason, now, waiting }: Eviction,
): Promise<boolean> {
  const kept = await parts.sessions.any();
  const queue = parts.tree.queue(resource);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const view = await listQueue(kept, queue);
    const all = await detailed(kept, queue, view.places);
    const found = all.find(([, details]) => details.number === number);
    if (!found) return false;
    const [place, details] = found;
    const path = `${queue}/${place.name}`;
    const holds = view.places.indexOf(place) < view.admitted;
    const bars = now ? [] : view.barring(place);
    if (waiting && bars.length === 0) return false;
    const { id, foreign, sequence } = place;
    const { version, ttlMs = 0, holder, sealed } = details;
    if (!now && bars.length === 0) {
      if (parts.tree.recipe === 'latch') throw permanentFailure(NO_WRITE);
      if (sealed) return true;
      // Its process ends it after its ttl; one of Curator's, when it chooses.
      const seal = { sealed: 'evicted', detail: reason, lasts: ttlMs, number } as const;
      const data = foreign ? REVOKE : dataOf({ ttlMs, holder }, seal);
      if (await unless(kept.session.setData(path, data, { version, ...kept.within }))) return true;
      continue;
    }
    const steps: MultiStep[] = [{ step: 'delete', path, version }];
    for (const { name } of bars) steps.push({ step: 'check', path: `${queue}/${name}` });
    if (!foreign && id !== undefined) steps.push(parts.tombstones.burial(id, reason));
    const note = { reason: 'evicted', token: number, sequence } as const;
    if (await unless(ended(kept, { steps, queue, note: holds ? note : undefined }))) {
      void parts.tombstones.sweep(kept);
      return true;
    }
  }
  throw temporaryFailure('Other requests kept changing the claim.');
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
