/** ZooKeeper for a store: where it is and how it is spoken to, once; then sessions. */
import { type Clock, systemClock } from '../../clock.ts';
import { destinationOf, type ZookeeperOptions } from './address.ts';
import { Session } from './session.ts';
import { ZookeeperSession } from './zookeeper-session.ts';

/** Starts sessions, all with the same servers and terms. */
export interface ZookeeperClient {
  /** What is asked for; servers have limits of their own. */
  readonly sessionTimeoutMs: number;
  /** A new session, which connects at once, and again whenever it has to. */
  start(): ZookeeperSession;
}

/**
 * `zookeeper://user:password@host1:2181,host2/chroot`, `zookeepers://` for TLS, or options.
 * @throws UsageError before anything is sent.
 */
export function zookeeperClient(
  address: string | ZookeeperOptions,
  clock: Clock = systemClock(),
): ZookeeperClient {
  const destination = destinationOf(address);
  return {
    sessionTimeoutMs: destination.sessionTimeoutMs,
    start: () => new ZookeeperSession(destination, new Session(destination, clock), clock),
  };
}
