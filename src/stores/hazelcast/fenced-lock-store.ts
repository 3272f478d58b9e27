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
import type {
  Claim,
  ClaimStatus,
  Member,
  Queue,
  Store,
  Subscribed,
  Traits,
  Wake,
} from '../../contract/store.ts';
import { each } from '../batch.ts';
import { ClaimWakes } from '../subscription.ts';
import { CpSession, type CpSessionParts } from './cp-session.ts';
import { FencedClaim } from './fenced-claim.ts';
import { objectName } from './proxies.ts';

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

export class FencedLockStore implements Store {
  readonly name = 'hazelcast-fenced-lock';
  readonly traits: Traits = TRAITS;
  readonly lineage: string = this.name;
  /** A claim ends with its session. */
  readonly maxTtlMs: number;
  readonly #parts: CpSessionParts;
  readonly #session: CpSession;
  readonly #wakes = new ClaimWakes();
  readonly #claims = new Map<string, FencedClaim>();
  #closed = false;

  constructor(parts: CpSessionParts) {
    this.#parts = parts;
    this.maxTtlMs = parts.ttlMs;
    this.#session = new CpSession(parts);
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#each(claims, async (claim) => {
      if (!this.#claims.has(claim.id)) await this.#session.begin();
      const known = this.#claims.get(claim.id);
      const own = known ?? this.#make(claim);
      if (known) own.again();
      else own.ask();
      await own.asked;
      return own.status();
    });
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    let proof: Promise<number> | undefined;
    return this.#each(claims, async ({ id }) => {
      const known = this.#claims.get(id);
      proof ??= this.#session.prove();
      const epoch = await proof;
      return known?.renew(epoch) ?? UNKNOWN;
    });
  }

  async release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    return Promise.all(
      claims.map((claim) => {
        // A copy of an unknown one that arrives late finds that it is over.
        const known = this.#claims.get(claim.id) ?? this.#make(claim);
        return known.release(after?.ms);
      }),
    );
  }

  /** All that is known of other programs' claims is that one holds. */
  async inspect(resource: string): Promise<Queue> {
    const own = [...this.#claims.values()].filter(({ claim }) => claim.resource === resource);
    const holder = own.find(({ holds }) => holds);
    if (holder) {
      return { resource, limit: holder.claim.limit, holders: [holder.member], waiters: [] };
    }
    const locked = await this.#parts.locks.ask(objectName(resource), (lock) => lock.isLocked());
    return { resource, holders: locked ? [STRANGER] : [], waiters: [] };
  }

  watch(claim: Claim, wake: Wake): Subscribed {
    return this.#wakes.subscribe(claim, wake);
  }

  /** What is still held ends with its TTL. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#session.end();
  }

  #make(claim: Claim): FencedClaim {
    const made = new FencedClaim(claim, {
      ...this.#parts,
      name: objectName(claim.resource),
      session: this.#session,
      granted: () => this.#wakes.wake(claim),
      forgotten: () => this.#claims.delete(claim.id),
    });
    this.#claims.set(claim.id, made);
    return made;
  }

  async #each(
    claims: readonly Claim[],
    verb: (claim: Claim) => Promise<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    if (this.#closed) throw new ClosedError('This store is closed');
    return each(claims, verb);
  }
}
