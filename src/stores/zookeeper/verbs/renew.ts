/**
 * Heartbeats: the leader looks for the nodes, which confirms their session.
 *
 * One write checks all claims of a session, each with its expected version. A claim whose node is
 * gone, or was marked by another process, is left out, and the others are checked again. A second
 * write then shows how long the session is sure to live (confirmations.ts).
 * A watch reports the first waiter behind a lone mutex or writer, so its queue need not be listed.
 * While the connection is down, nothing is sent: claims get an error at once, as nothing confirms
 * them.
 */
import { failedWith } from '../../../clients/zookeeper/errors.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import { EXPIRED, UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { each, errorStatus, grouped } from '../../batch.ts';
import type { KeptSession } from '../kept-session.ts';
import type { ZookeeperClaim } from '../own-claim.ts';
import type { ZookeeperParts } from '../own-claims.ts';
import { uuidOf } from '../places.ts';
import { readDetails } from '../reading.ts';
import { ending, lose, miss } from './claim.ts';

const DISCONNECTED = 'The connection to ZooKeeper is lost, so nothing confirms its session now.';

export async function renewAll(
  parts: ZookeeperParts,
  claims: readonly Claim[],
): Promise<ClaimStatus[]> {
  const sentAt = parts.clock.now();
  const living = claims.flatMap((claim) => {
    const own = parts.own.find(claim);
    if (!own || own.left || own.sealed || own.path === undefined || own.kept.over) return [];
    return own.until > sentAt ? own : [];
  });
  for (const own of living) own.until = sentAt + own.claim.ttlMs;
  const bySession = grouped(living, ({ kept }) => kept);
  const beaten = [...bySession].map(([kept, group]) => beat(parts, kept, group));
  const failures = new Map((await Promise.all(beaten)).flatMap((each) => [...each]));
  return each(claims, async (claim) => {
    const failure = failures.get(claim.id);
    if (failure) return failure;
    const own = parts.own.find(claim);
    return own ? standing(parts, own, sentAt) : foreign(parts, claim);
  });
}

/** Statuses of those that could not be confirmed, by their ids: some are forgotten then. */
async function beat(
  parts: ZookeeperParts,
  kept: KeptSession,
  claims: readonly ZookeeperClaim[],
): Promise<ReadonlyMap<string, ClaimStatus>> {
  const failures = new Map<string, ClaimStatus>();
  try {
    if (kept.silent) throw temporaryFailure(DISCONNECTED);
    for (let rest = [...claims]; rest.length > 0; ) {
      const odd = await check(kept, rest);
      if (odd === undefined) break;
      const own = rest[odd] as ZookeeperClaim;
      const status = await changed(parts, own);
      if (!status) continue;
      failures.set(own.claim.id, status);
      rest = rest.filter((each) => each !== own);
    }
    await kept.confirm('write');
  } catch (error) {
    for (const own of claims) {
      const { id } = own.claim;
      if (!failures.has(id)) failures.set(id, kept.over ? lose(parts, own) : errorStatus(error));
    }
  }
  return failures;
}

/** The index of a claim without that node; undefined: all are in order. */
async function check(
  { session, within }: KeptSession,
  claims: readonly ZookeeperClaim[],
): Promise<number | undefined> {
  try {
    await session.multi(
      claims.map(({ path = '', version }) => ({ step: 'check', path, version })),
      within,
    );
    return undefined;
  } catch (error) {
    if (!failedWith(error, 'NONODE') && !failedWith(error, 'BADVERSION')) throw error;
    return error.step;
  }
}

/** Its status if its node is gone or sealed; else undefined. */
async function changed(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
): Promise<ClaimStatus | undefined> {
  const queue = parts.own.queue(own.claim.resource);
  const place = (await queue.look(own.kept)).at(own.id);
  // A downgrade with an unknown outcome may have renamed it.
  if (place) own.path = `${queue.path}/${place.name}`;
  const details = place && (await readDetails(own.kept, own.path ?? ''));
  if (!details) return miss(parts, own);
  own.version = details.version;
  if (!details.sealed) return undefined;
  own.sealed = details.sealed;
  return details.sealed;
}

async function standing(
  parts: ZookeeperParts,
  own: ZookeeperClaim,
  sentAt: number,
): Promise<ClaimStatus> {
  if (own.entering) return own.entering;
  if (own.sealed) return ending(parts, own);
  if (own.left) return UNKNOWN;
  if (own.kept.over) return lose(parts, own);
  if (own.until <= sentAt) {
    own.kept.sweep();
    return EXPIRED;
  }
  if (!own.undisturbed) {
    const view = await parts.own.queue(own.claim.resource).look(own.kept);
    if (view.find(own.id) < 0) return miss(parts, own);
  }
  return own.status(sentAt);
}

/** Another process's claim: it is looked at, but not kept alive. */
async function foreign(parts: ZookeeperParts, claim: Claim): Promise<ClaimStatus> {
  const tombstone = parts.tombstones.find(claim.id);
  if (tombstone) return tombstone;
  const kept = await parts.sessions.any();
  const queue = parts.own.queue(claim.resource);
  const view = await queue.look(kept);
  const index = view.find(uuidOf(claim));
  const place = view.places[index];
  const details = place && (await readDetails(kept, `${queue.path}/${place.name}`));
  if (!details) return parts.tombstones.epitaph(claim, kept);
  if (details.sealed) return details.sealed;
  const { waiters } = view;
  // It was there a moment ago.
  const leftMs = 1;
  if (index < view.admitted) return { state: 'held', token: details.number, leftMs, waiters };
  return { state: 'waiting', why: 'queue', leftMs, ahead: index, retryInMs: claim.ttlMs };
}
