/**
 * Claims that leave.
 *
 * Only who made a node knows its path, so no release can end another claim. Who holds notes in the
 * same step, at the node of the queue, how the hold ended: who finds no note knows that nobody had
 * time to write one. A release whose outcome is unknown is tried again until the node surely is
 * gone, or the session is over. One that ends later stays where it is if its session is sure to
 * live so long, whatever becomes of this process; otherwise it goes to a session of its own.
 */
import type { Claim, Takeover } from '../../store.ts';
import { dataOf, noteData } from './data.ts';
import { failedWith } from './errors.ts';
import { listQueue, readDetails } from './listing.ts';
import { uuidOf } from './nodes.ts';
import type { OwnClaim } from './own-claim.ts';
import type { Parts } from './parts.ts';

/** @throws StoreError */
export async function release(parts: Parts, claim: Claim, afterMs: number): Promise<boolean> {
  const own = parts.own.find(claim);
  if (!own) {
    parts.graves.bury(claim);
    return releaseFromElsewhere(parts, claim);
  }
  if (own.entering) {
    own.left ||= afterMs === 0 || !own.held;
    await own.entering.catch(() => {});
  }
  if (own.kept.over) {
    drop(parts, own);
    parts.graves.bury(claim);
    return false;
  }
  const later = afterMs > 0 && own.held;
  if (later && (await leaveLater(parts, own, afterMs))) return true;
  const left = !later && (await leave(parts, own));
  if (later) drop(parts, own);
  if (!left || claim.unanswered) parts.graves.bury(claim);
  return left;
}

/** Another store may have made it. */
async function releaseFromElsewhere({ sessions, tree }: Parts, claim: Claim): Promise<boolean> {
  const kept = await sessions.any();
  const path = tree.queue(claim.resource);
  const view = await listQueue(kept, path);
  const index = view.find(uuidOf(claim));
  const place = view.places[index];
  if (!place) return false;
  const step = { step: 'delete', path: `${path}/${place.name}` } as const;
  const details = await readDetails(kept, step.path);
  if (!details) return false;
  const note = { reason: 'released', token: details.number, sequence: place.sequence } as const;
  const noting = { step: 'set', path, data: noteData(note) } as const;
  await kept.session.multi(index < view.admitted ? [step, noting] : [step], kept.within);
  return true;
}

/** False: it was not there. @throws StoreError, and it is tried again in the background */
export async function leave(parts: Parts, own: OwnClaim): Promise<boolean> {
  own.left = true;
  try {
    const left = await remove(parts, own);
    drop(parts, own);
    return left;
  } catch (error) {
    // Whatever was promised to its holder is over.
    own.until = Math.min(own.until, parts.clock.now());
    own.kept.sweep();
    throw error;
  }
}

function drop(parts: Parts, own: OwnClaim): void {
  parts.own.forget(own);
  parts.sessions.remove(own);
}

async function remove(parts: Parts, own: OwnClaim): Promise<boolean> {
  const { claim, kept, uuid: id } = own;
  const { session, within } = kept;
  const parent = parts.tree.queue(claim.resource);
  if (own.path === undefined && own.tried) {
    const found = await session.findProtected({ parent, id, ...within }).catch(nothing);
    own.path = found?.path;
  }
  if (own.path === undefined) return false;
  try {
    if (own.held) await noted(own, own.path, parent);
    else await session.delete(own.path, within);
    return true;
  } catch (error) {
    return nothing(error) ?? false;
  }
}

/** Together with a note; whoever may not write one leaves all the same. */
async function noted(own: OwnClaim, path: string, parent: string): Promise<void> {
  const { session, within } = own.kept;
  const reason: Takeover['reason'] = own.sealed?.why === 'evicted' ? 'evicted' : 'released';
  const data = noteData({ reason, token: own.number, sequence: own.sequence });
  try {
    await session.multi(
      [
        { step: 'delete', path },
        { step: 'set', path: parent, data },
      ],
      within,
    );
  } catch (error) {
    const forbidden = failedWith(error, 'NOAUTH') && error.step === 1;
    if (!forbidden) throw error;
    await session.delete(path, within);
  }
}

/** Undefined if there is no such node. */
function nothing(error: unknown): undefined {
  if (!failedWith(error, 'NONODE')) throw error;
}

async function leaveLater(parts: Parts, own: OwnClaim, ms: number): Promise<boolean> {
  if (own.sealed || own.path === undefined) return true;
  const sentAt = parts.clock.now();
  const seal = { sealed: 'unknown', lasts: ms, number: own.number } as const;
  const data = dataOf(own.claim, seal);
  const { session, within } = own.kept;
  const { path, version } = own;
  try {
    if (own.kept.deadline - sentAt < ms) await move(parts, own, { path, data, ms });
    else await session.setData(path, data, { version, ...within });
  } catch (error) {
    if (failedWith(error, 'BADVERSION')) return sealedBefore(parts, own, ms);
    nothing(error);
    return false;
  }
  own.sealed = { state: 'gone', why: 'unknown' };
  own.until = sentAt + ms;
  own.kept.sweep();
  return true;
}

/** Somebody else has marked it, which may have been to evict it: then it ends when it would. */
async function sealedBefore(parts: Parts, own: OwnClaim, ms: number): Promise<boolean> {
  const details = await readDetails(own.kept, own.path ?? '');
  if (!details) return false;
  own.version = details.version;
  own.sealed = details.sealed;
  return leaveLater(parts, own, ms);
}

/** To a session that nobody else depends on. */
async function move(
  { sessions }: Parts,
  own: OwnClaim,
  { path, data, ms }: { readonly path: string; readonly data: Buffer; readonly ms: number },
): Promise<void> {
  const apart = await sessions.apart(ms);
  const steps = [
    { step: 'delete', path, version: own.version },
    { step: 'create', path, data, kind: 'ephemeral' },
  ] as const;
  await apart.session.multi(steps, apart.within);
  sessions.remove(own);
  own.kept = apart;
  sessions.add(own);
}
