import { type Clock, checkClock } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { checkOptions } from '../../base/options.ts';
import type { Store } from '../../contract/store.ts';
import type { KubernetesOptions } from './access.ts';
import { LeaseApi } from './lease-api.ts';
import { LeaseLockStore } from './lease-lock-store.ts';

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
  return new LeaseLockStore({
    leases: new LeaseApi(access, 'leaseLockStore'),
    clock: checked.clock,
    wallMs: Date.now,
    retryMs: checked.retry,
  });
}
