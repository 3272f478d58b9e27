/** The verbs of the contract on leases, one for each lock; `shared-lease.ts` has the rules. */
import { type Clock, checkClock } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { checkOptions } from '../../base/options.ts';
import { ClosedError, permanentFailure } from '../../contract/errors.ts';
import type { Claim, ClaimStatus, Store, Traits } from '../../contract/store.ts';
import { each } from '../batch.ts';
import { OwnTombstones } from '../own-tombstones.ts';
import { type KubernetesOptions, LeaseApi } from './lease-api.ts';
import { lockName } from './lock-record.ts';
import { SharedLease } from './shared-lease.ts';

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

const NAME = 'kubernetes-lease';

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

/** What is seen of a lease is forgotten when nothing has asked for it for this long, in ms. */
const REST_MS = 600_000;

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
  const { retry, clock: given, ...access } = Object(options) as LeaseLockOptions;
  const checked = checkOptions({ retry, clock: given }, CHECKS, 'leaseLockStore');
  const { clock, retry: retryMs } = checked;
  const leases = new LeaseApi(access, 'leaseLockStore');
  const parts = { leases, released: new OwnTombstones(clock), clock, wallMs: Date.now, retryMs };
  const locks = new Map<string, SharedLease>();
  let sweepAt = 0;
  let closed = false;

  function of(resource: string): SharedLease {
    const now = clock.now();
    if (now >= sweepAt) sweep(now);
    const name = lockName(resource);
    const lock = locks.get(name) ?? new SharedLease(name, parts);
    lock.usedAt = now;
    locks.set(name, lock);
    return lock;
  }

  function sweep(now: number): void {
    sweepAt = now + REST_MS;
    for (const [name, { usedAt, isIdle }] of locks) {
      if (isIdle && usedAt <= now - REST_MS) locks.delete(name);
    }
  }

  async function statuses(
    claims: readonly Claim[],
    verb: (lock: SharedLease, claim: Claim) => Promise<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    if (closed) throw new ClosedError('This store is closed');
    return each(claims, (claim) => verb(of(claim.resource), claim));
  }

  return {
    name: NAME,
    traits: TRAITS,
    lineage: NAME,
    claim: (claims) =>
      statuses(claims, async (lock, claim) => {
        if (claim.permits === claim.limit) return lock.claim(claim);
        throw permanentFailure('A Lease has one holder at a time.');
      }),
    renew: (claims) => statuses(claims, (lock, claim) => lock.renew(claim)),
    release(claims, after) {
      const afterMs = Math.max(0, after?.ms ?? 0);
      return Promise.all(claims.map((claim) => of(claim.resource).release(claim, afterMs)));
    },
    inspect: async (resource) => of(resource).inspect(resource),
    async close() {
      closed = true;
      leases.close();
    },
  };
}
