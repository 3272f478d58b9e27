/** Locks between machines, in etcd; programs in Go can share them. */
import { systemClock } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { checkOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import type { EtcdAddress } from '../../clients/etcd/address.ts';
import type { EtcdClient } from '../../clients/etcd/client.ts';
import { etcdClient } from '../../clients/etcd/etcd-client.ts';
import { maxWaiters } from '../../contract/admission.ts';
import type { Store } from '../../contract/store.ts';
import { etcdStoreOf } from './etcd-store.ts';
import { KeySpace } from './layout.ts';

export type { EtcdAddress, EtcdTls } from '../../clients/etcd/address.ts';
export type { EtcdClient } from '../../clients/etcd/client.ts';
export { etcdClient } from '../../clients/etcd/etcd-client.ts';

export interface EtcdOptions {
  /**
   * The prefix of all keys; default `holdfast/`. A lock `a` of etcd's `concurrency` package, or of
   * `etcdctl lock a`, is the mutex `a` of a store without a prefix.
   */
  readonly prefix?: string;
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
}

const CHECKS = {
  prefix: (given: string = 'holdfast/', name: string): string => {
    if (typeof given === 'string' && given.isWellFormed() && !given.includes('\0')) return given;
    throw new UsageError(`${name} must be text without a NUL, not ${show(given)}.`);
  },
  maxWaiters,
};

/**
 * A store in the cluster at this address: `http://host:2379`, several of them, an object with
 * `endpoints`, `username`, `password` and `tls`, or a client of your own, which the store uses and
 * never closes. It connects with its first verb.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { etcdStore } from 'holdfast/etcd';
 *
 * const locks = createLocks(etcdStore('http://127.0.0.1:2379'));
 *
 * @throws UsageError for a malformed address, or for bad options.
 */
export function etcdStore(
  address: string | readonly string[] | EtcdAddress | EtcdClient,
  options: EtcdOptions = {},
): Store {
  const { prefix, ...limits } = checkOptions(options, CHECKS, 'etcdStore');
  const keys = new KeySpace(prefix);
  const parts = { keys, clock: systemClock(), ...limits };
  if (typeof address === 'object' && address !== null && 'txn' in address) {
    return etcdStoreOf({ ...parts, client: address, owned: false });
  }
  // Users of the store may read tombstones.
  return etcdStoreOf({ ...parts, client: etcdClient(address, { readable: keys.tombstone('') }) });
}
