/**
 * Claims that leave.
 *
 * A node is found by its claim's id, so no release can end another claim. A holder's release notes
 * in the same step, at the queue's node, how the hold ended. No note means that the holder had no
 * time to write one, or that its own process deleted it because it was not renewed. A release with
 * an unknown outcome is tried again until the node is surely gone, or the session is over. A
 * delayed release stays where it is if its session is sure to live that long without this process;
 * otherwise it goes to a session of its own.
 */
import { Answer, follow, type Soon } from '../../../base/answer.ts';
import { failedWith, unlessMissing } from '../../../clients/zookeeper/errors.ts';
import type { MultiStep } from '../../../clients/zookeeper/zookeeper-session.ts';
import { UNKNOWN } from '../../../contract/gone.ts';
import type { Claim } from '../../../contract/store.ts';
import type { KeptSession } from '../kept-session.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { dataOf, type NodeNote, noteData, uuidOf } from '../places.ts';
import { listQueue, readDetails } from '../reading.ts';

export function release(
  parts: ZookeeperParts,
  claim: Claim,
  afterMs: number,
  own: ZookeeperClaim | undefined = parts.own.find(claim),
): Soon<boolean> {
  if (!own) {
    parts.tombstones.bury(claim.id, claim.ttlMs);
    return releaseFromElsewhere(parts, claim);
  }
  if (own.entering) {
    own.left ||= afterMs === 0 || !own.held;
    return own.entering.or(() => undefined).chain(() => release(parts, claim, afterMs, own));
  }
  if (own.kept.over) {
    parts.own.forget(own);
    parts.tombstones.bury(claim.id, claim.ttlMs);
    return false;
  }
  const later = afterMs > 0 && own.held && leaveLater(parts, own, afterMs);
  return follow<boolean, boolean>(later, (stays) => {
    if (stays) return true;
    return leave(parts, own).map((left) => {
      if (!left || claim.unanswered) parts.tombstones.bury(claim.id, claim.ttlMs);
      return left;
    });
  });
}

/** Another store may have made it. */
async function releaseFromElsewhere(parts: ZookeeperParts, claim: Claim): Promise<boolean> {
  const kept = await parts.sessions.any();
  const path = parts.tree.queue(claim.resource);
  const view = await listQueue(kept, path);
  const id = uuidOf(claim);
  const place = view.at(id);
  if (!place) return false;
  const step = { step: 'delete', path: `${path}/${place.name}` } as const;
  const details = await readDetails(kept, step.path);
  if (!details) return false;
  const note = { reason: 'released', token: details.number, sequence: place.sequence } as const;
  await ended(kept, { steps: [step], queue: path, note: view.holds(id) ? note : undefined });
  return true;
}

/** False: it was not there. @throws StoreError, and tries again in the background */
export function leave(parts: ZookeeperParts, own: ZookeeperClaim): Answer<boolean> {
  own.left = true;
  const removed = Answer.of<boolean>(() => remove(parts, own)).or((error): never => {
    // Its release ends its remaining time.
    own.until = Math.min(own.until, parts.clock.now());
    own.kept.sweepSoon();
    throw error;
  });
  return removed.map((left) => {
    parts.own.forget(own);
    return left;
  });
}

/** Deletes a claim that is over: its release failed, or it was not renewed. */
export async function clear(parts: ZookeeperParts, own: ZookeeperClaim): Promise<void> {
  own.died ||= !own.left;
  own.left = true;
  // A request under way may still make it.
  await own.entering?.catch(() => {});
  // It may have been evicted since its last heartbeat.
  if (own.died && own.path !== undefined) {
    own.sealed ??= (await readDetails(own.kept, own.path))?.sealed;
  }
  await leave(parts, own);
}

function remove({ tree }: ZookeeperParts, own: ZookeeperClaim): Soon<boolean> {
  const { path, claim } = own;
  const queue = tree.queue(claim.resource);
  if (path !== undefined && claim.kind !== 'write') return removeAt(own, path, queue);
  return removeUnsure(own, queue);
}

async function removeUnsure(own: ZookeeperClaim, queue: string): Promise<boolean> {
  if (own.path === undefined && own.tried) await locate(own, queue);
  const before = own.path;
  if (before === undefined) return false;
  if (await removeAt(own, before, queue)) return true;
  // A downgrade with an unknown outcome may have renamed it.
  if (own.claim.kind === 'write') await locate(own, queue);
  const { path } = own;
  return path !== undefined && path !== before && removeAt(own, path, queue);
}

async function locate(own: ZookeeperClaim, parent: string): Promise<void> {
  const { session, within } = own.kept;
  const found = await session.findProtected({ parent, id: own.id, ...within }).catch(unlessMissing);
  own.path = found?.path;
}

function removeAt(own: ZookeeperClaim, path: string, queue: string): Answer<boolean> {
  const { kept, held, died, sealed, number: token, sequence } = own;
  const silent = died && sealed === undefined;
  const reason = sealed?.why === 'evicted' ? 'evicted' : 'released';
  const note = held && !silent ? ({ reason, token, sequence } as const) : undefined;
  const removed = ended(kept, { steps: [{ step: 'delete', path }], queue, note });
  return removed.map(() => true).or((error) => unlessMissing(error) ?? false);
}

interface NodeEnding {
  readonly steps: readonly MultiStep[];
  readonly queue: string;
  /** Undefined: it did not hold, or it is to end without a note. */
  readonly note: NodeNote | undefined;
}

/** Ends a claim and notes how; without the right to write there, it only ends it. */
export function ended(
  { session, within }: KeptSession,
  { steps, queue, note }: NodeEnding,
): Answer<unknown> {
  const last = note ? [{ step: 'set', path: queue, data: noteData(note) } as const] : [];
  return Answer.from(session.multi([...steps, ...last], within)).or((error) => {
    const forbidden = failedWith(error, 'NOAUTH') && error.step === steps.length;
    if (!forbidden) throw error;
    return session.multi(steps, within);
  });
}

async function leaveLater(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
  ms: number,
): Promise<boolean> {
  if (own.sealed || own.path === undefined) return true;
  const sentAt = parts.clock.now();
  const data = dataOf(own.claim, { sealed: 'unknown', lasts: ms, number: own.number });
  const { session, within } = own.kept;
  const { path, version } = own;
  try {
    // Written to, a latch would use up the watch of the one behind it in Java.
    const latch = own.kept.recipe === 'latch';
    if (latch || own.kept.deadline - sentAt < ms) {
      // Another release of the same claim may be under way, with a session of its own.
      const apart = own.apart ?? (await parts.sessions.apart(ms));
      own.apart = apart;
      const steps = [
        { step: 'delete', path, version: own.version },
        { step: 'create', path, data, kind: 'ephemeral' },
      ] as const;
      await apart.session.multi(steps, apart.within);
      adopt(own, apart);
    } else await session.setData(path, data, { version, ...within });
  } catch (error) {
    if (failedWith(error, 'BADVERSION')) return sealedBefore(parts, own, ms);
    unlessMissing(error);
    return false;
  }
  own.sealed = UNKNOWN;
  own.until = sentAt + ms;
  own.kept.sweep();
  return true;
}

/**
 * An earlier attempt without a reply marked it; or another process did, perhaps to evict it: then
 * it keeps that end.
 */
async function sealedBefore(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
  ms: number,
): Promise<boolean> {
  const { kept, apart, path = '' } = own;
  const details = await readDetails(kept, path);
  if (!details) return false;
  own.version = details.version;
  own.sealed = details.sealed;
  if (details.sealed?.why !== 'unknown') return leaveLater(parts, own, ms);
  if (apart && details.session === apart.session.id) adopt(own, apart);
  own.until = parts.clock.now() + ms;
  own.kept.sweep();
  return true;
}

/** It is moved to a session that no other claim shares. */
function adopt(own: ZookeeperClaim, kept: KeptSession): void {
  own.kept.remove(own);
  own.kept = kept;
  kept.add(own);
}
