/** The verbs of the contract on leases, one for each lock; `shared-lease.ts` has the rules. */
import { ClosedError, StoreError, toStoreError } from '../../contract/errors.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits } from '../../contract/store.ts';
import { OwnTombstones } from '../own-tombstones.ts';
import type { LeaseApi } from './lease-api.ts';
import { lockName } from './lock-record.ts';
import { SharedLease, type SharedLeaseParts } from './shared-lease.ts';

const TRAITS: Traits = {
  queue: false,
  tokens: 'the resourceVersion of the Lease',
  // What a holder that died has left behind has to be watched for its duration first.
  atomicTry: false,
  clock: 'process',
  failover: 'linearizable',
  reach: 'network',
  ttlStepMs: 1000,
};

export interface LeaseLockStoreParts extends Omit<SharedLeaseParts, 'leases' | 'released'> {
  readonly leases: Pick<LeaseApi, 'find' | 'write' | 'close'>;
}

/** What is seen of a lease is forgotten when nothing has asked for it for this long, in ms. */
const REST_MS = 600_000;

export class LeaseLockStore implements Store {
  readonly name = 'kubernetes-lease';
  readonly traits: Traits = TRAITS;
  readonly lineage: string = this.name;
  readonly #parts: SharedLeaseParts & LeaseLockStoreParts;
  readonly #locks = new Map<string, SharedLease>();
  #sweepAt = 0;
  #closed = false;

  constructor(parts: LeaseLockStoreParts) {
    this.#parts = { ...parts, released: new OwnTombstones(parts.clock) };
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#each(claims, async (lock, claim) => {
      if (claim.permits === claim.limit) return lock.claim(claim);
      const message = 'A Lease has one holder at a time.';
      throw new StoreError(message, { retryable: false, outcome: 'failed' });
    });
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#each(claims, (lock, claim) => lock.renew(claim));
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<readonly boolean[]> {
    const afterMs = Math.max(0, after?.ms ?? 0);
    return Promise.all(claims.map((claim) => this.#of(claim.resource).release(claim, afterMs)));
  }

  async inspect(resource: string): Promise<Queue> {
    return this.#of(resource).inspect(resource);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#parts.leases.close();
  }

  /** All at once; where one fails, the others do not. */
  async #each(
    claims: readonly Claim[],
    verb: (lock: SharedLease, claim: Claim) => Promise<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    if (this.#closed) throw new ClosedError('This store is closed');
    return Promise.all(
      claims.map((claim) => verb(this.#of(claim.resource), claim).catch(errorStatus)),
    );
  }

  #of(resource: string): SharedLease {
    const now = this.#parts.clock.now();
    this.#sweep(now);
    const name = lockName(resource);
    const lock = this.#locks.get(name) ?? new SharedLease(name, this.#parts);
    lock.usedAt = now;
    this.#locks.set(name, lock);
    return lock;
  }

  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + REST_MS;
    for (const [name, { usedAt, isIdle }] of this.#locks) {
      if (isIdle && usedAt <= now - REST_MS) this.#locks.delete(name);
    }
  }
}

function errorStatus(error: unknown): ClaimStatus {
  return { state: 'error', error: toStoreError(error) };
}
