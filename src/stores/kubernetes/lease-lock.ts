/** The verbs of the contract on leases, one for each lock; `shared-lease.ts` has the rules. */
import { type Clock, checkClock } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { checkOptions } from '../../base/options.ts';
import { ClosedError, permanentFailure } from '../../contract/errors.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits } from '../../contract/store.ts';
import { each } from '../batch.ts';
import { OwnTombstones } from '../own-tombstones.ts';
import type { KubernetesOptions } from './access.ts';
import { LeaseApi } from './lease-api.ts';
import { lockName } from './lock-record.ts';
import { SharedLease, type SharedLeaseParts } from './shared-lease.ts';

export interface LeaseLockOptions extends KubernetesOptions {
  /**
   * The mean pause of a waiting claim between its tries, each from half to one and a half times as
   * long; default 2 s, client-go's `RetryPeriod` in most programs. A claim also tries at each of
   * its heartbeats, every third of the `ttl`.
   */
  readonly retry?: Duration;
  readonly clock?: Clock;
}

const CHECKS = { retry: positive('2s'), clock: checkClock };

/**
 * A store that shares its locks with leader elections of client-go: each is the `Lease` of that
 * name, and its holder is the leader. It has no queue, no permits and no records; where all
 * programs use Holdfast, take `kubernetesStore`.
 *
 * @example
 * import { leaseLockStore } from 'holdfast/kubernetes';
 *
 * // What `kubectl proxy` opens.
 * const store = leaseLockStore({ url: 'http://127.0.0.1:8001', namespace: 'shop' });
 *
 * @throws UsageError
 */
export function leaseLockStore(options: LeaseLockOptions = {}): Store {
  const { retry, clock, ...access } = Object(options) as LeaseLockOptions;
  const checked = checkOptions({ retry, clock }, CHECKS, 'leaseLockStore');
  return new LeaseLockStore(new LeaseApi(access, 'leaseLockStore'), checked.clock, checked.retry);
}

/** What is seen of a lease is forgotten when nothing has asked for it for this long, in ms. */
const REST_MS = 600_000;

class LeaseLockStore implements Store {
  readonly name = 'kubernetes-lease';
  readonly traits: Traits = {
    queue: false,
    tokens: 'the resourceVersion of the Lease',
    // What a holder that died has left behind has to be watched for its duration first.
    atomicTry: false,
    clock: 'process',
    failover: 'linearizable',
    reach: 'network',
    ttlStepMs: 1000,
  };
  readonly lineage: string = this.name;
  readonly #leases: LeaseApi;
  readonly #parts: SharedLeaseParts;
  readonly #locks = new Map<string, SharedLease>();
  #sweepAt = 0;
  #closed = false;

  constructor(leases: LeaseApi, clock: Clock, retryMs: number) {
    const released = new OwnTombstones(clock);
    this.#leases = leases;
    this.#parts = { leases, released, clock, wallMs: Date.now, retryMs };
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#each(claims, async (lock, claim) => {
      if (claim.permits === claim.limit) return lock.claim(claim);
      throw permanentFailure('A Lease has one holder at a time.');
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
    await this.#leases.close();
  }

  async #each(
    claims: readonly Claim[],
    verb: (lock: SharedLease, claim: Claim) => Promise<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    if (this.#closed) throw new ClosedError('This store is closed');
    return each(claims, (claim) => verb(this.#of(claim.resource), claim));
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
