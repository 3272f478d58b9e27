import { type Clock, checkClock } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { checkOptions, flag, text } from '../../base/options.ts';
import type { Store } from '../../contract/store.ts';
import { apart, type DocumentStoreOptions, documentStore } from '../document/document-store.ts';
import { checkClient, type HazelcastClient } from './client.ts';
import { type HazelcastOptions, hazelcastDocuments } from './documents.ts';
import { fencedLockStoreOf } from './fenced-lock-store.ts';
import { proxiesOf } from './proxies.ts';

export type { HazelcastClient } from './client.ts';

export interface HazelcastStoreOptions extends HazelcastOptions, DocumentStoreOptions {}

/**
 * Locks in the CP Subsystem of a Hazelcast cluster, for programs that all use Holdfast.
 *
 * @example
 * import { hazelcastStore } from 'holdfast/hazelcast';
 * import { Client } from 'hazelcast-client';
 *
 * const store = hazelcastStore(await Client.newHazelcastClient());
 *
 * @throws UsageError
 */
export function hazelcastStore(
  client: HazelcastClient,
  options: HazelcastStoreOptions = {},
): Store {
  const [common, own] = apart(options);
  const hazelcast = checkClient(client, 'hazelcastStore');
  const documents = hazelcastDocuments(async () => hazelcast, own);
  return documentStore(documents, common);
}

export interface FencedLockOptions {
  /** The CP group of the locks: in Java, what follows the `@` in a name. Default `default`. */
  readonly group?: string;
  /**
   * The cluster's `session-time-to-live-seconds`, or less; default 1 minute, as there. With more, a
   * lock could be another's before it is known to be lost here.
   */
  readonly sessionTtl?: Duration;
  /** Takes a cluster without CP members, which forgets locks that are held. Default false. */
  readonly allowUnsafe?: boolean;
  readonly clock?: Clock;
}

const CHECKS = { group: text, sessionTtl: positive('1m'), allowUnsafe: flag(), clock: checkClock };

/**
 * A store that shares its locks with programs in Java: each is the `FencedLock` of that name.
 * It has no permits, no readers and no view of who waits; where all programs use Holdfast, take
 * `hazelcastStore`.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { fencedLockStore } from 'holdfast/hazelcast';
 *
 * const locks = createLocks(fencedLockStore(hazelcast, { sessionTtl: '1m' }));
 *
 * @throws UsageError
 */
export function fencedLockStore(client: HazelcastClient, options: FencedLockOptions = {}): Store {
  const given = checkOptions(options, CHECKS, 'fencedLockStore');
  const { group = 'default', sessionTtl: ttlMs, allowUnsafe, clock } = given;
  const hazelcast = checkClient(client, 'fencedLockStore');
  const place = { open: async () => hazelcast, group, allowUnsafe };
  const withLock = proxiesOf(place, async (cp, name) => cp.getLock(name));
  return fencedLockStoreOf({ withLock, ttlMs, clock });
}
