/**
 * Locks that are shared with programs in Java: each is a `FencedLock` of the CP Subsystem.
 *
 * Invariant: a claim holds when its own request to lock has returned a fence, and the session that
 * the request was made in goes on (cp-session.ts); the members let no other in before that session
 * has ended. They keep waiting requests in order; so a waiting claim is a waiting request, and one
 * that is given up stays there: when it gets the lock, this store gives it back at once. The client
 * repeats a request with the same number after a broken connection, so no lock is taken twice.
 * Only this process knows a claim, and ends it with its TTL; if the process has crashed, its
 * session ends all its claims together.
 * What would break it: a request without any reply (two minutes, by default). It may have got the
 * lock, which the client then has no way to give back before its session ends.
 */
import { ClosedError } from '../../contract/errors.ts';
import { UNKNOWN } from '../../contract/gone.ts';
import type { Claim, ClaimStatus, Member, Store, Traits } from '../../contract/store.ts';
import { each } from '../batch.ts';
import { ClaimWakes } from '../subscription.ts';
import { CpSession, type CpSessionParts } from './cp-session.ts';
import { FencedClaim } from './fenced-claim.ts';
import { objectName } from './proxies.ts';

const NAME = 'hazelcast-fenced-lock';

const TRAITS: Traits = {
  queue: false,
  permits: false,
  tokens: 'the fence of the lock',
  atomicTry: false,
  clock: 'server',
  liveness: 'session',
  failover: 'linearizable',
  reach: 'network',
};

const STRANGER: Member = {
  ...{ number: 0n, kind: 'mutex', permits: 1, ttlMs: 0, leftMs: 0 },
  holder: { host: '', pid: 0, label: 'not of this process', since: 0 },
};

export function fencedLockStoreOf(parts: CpSessionParts): Store {
  const session = new CpSession(parts);
  const wakes = new ClaimWakes();
  const claims = new Map<string, FencedClaim>();
  let closed = false;

  function make(claim: Claim): FencedClaim {
    const made = new FencedClaim(claim, {
      ...parts,
      name: objectName(claim.resource),
      session,
      granted: () => wakes.wake(claim),
      forgotten: () => claims.delete(claim.id),
    });
    claims.set(claim.id, made);
    return made;
  }

  async function statuses(
    asked: readonly Claim[],
    verb: (claim: Claim) => Promise<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    if (closed) throw new ClosedError('This store is closed');
    return each(asked, verb);
  }

  return {
    name: NAME,
    traits: TRAITS,
    lineage: NAME,
    // A claim ends with its session.
    maxTtlMs: parts.ttlMs,
    claim: (asked) =>
      statuses(asked, async (claim) => {
        const known = claims.get(claim.id);
        const own = known ?? make(claim);
        if (known) own.again();
        else own.ask();
        await own.asked;
        return own.status();
      }),
    renew(asked) {
      let proof: Promise<number> | undefined;
      return statuses(asked, async ({ id }) => {
        const known = claims.get(id);
        proof ??= session.prove();
        const epoch = await proof;
        return known?.renew(epoch) ?? UNKNOWN;
      });
    },
    // A copy of an unknown one that arrives late finds that it is over.
    release: (asked, after) =>
      Promise.all(asked.map((claim) => (claims.get(claim.id) ?? make(claim)).release(after?.ms))),
    // All that is known of other programs' claims is that one holds.
    async inspect(resource) {
      const own = [...claims.values()].filter(({ claim }) => claim.resource === resource);
      const holder = own.find(({ holds }) => holds);
      if (holder) {
        return { resource, limit: holder.claim.limit, holders: [holder.member], waiters: [] };
      }
      const locked = await parts.withLock(objectName(resource), (lock) => lock.isLocked());
      return { resource, holders: locked ? [STRANGER] : [], waiters: [] };
    },
    watch: (claim, wake) => wakes.subscribe(claim, wake),
    // What is still held ends with its TTL.
    async close() {
      closed = true;
      await session.end();
    },
  };
}
