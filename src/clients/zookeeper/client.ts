/** A ZooKeeper client for a store: parses the address once, then starts sessions. */
import { type Clock, systemClock } from '../../base/clock.ts';
import { positive } from '../../base/duration.ts';
import { destinationOf, type ZookeeperOptions } from './address.ts';
import { ZookeeperSession } from './zookeeper-session.ts';

/** Starts sessions with the same servers and options. */
export interface ZookeeperClient {
  /**
   * A new session, which connects at once, and again whenever it has to. It outlives its client by
   * this timeout, in ms, within limits of the servers. Default: 10 s.
   * @throws UsageError unless it is more than 0, and at most 24 days.
   */
  start(sessionTimeoutMs?: number): ZookeeperSession;
}

/**
 * `zookeeper://user:password@host1:2181,host2/chroot`, `zookeepers://` for TLS, or options.
 *
 * @example
 * import { zookeeperClient } from 'holdfast/zookeeper';
 *
 * const session = zookeeperClient('zookeeper://127.0.0.1:2181').start();
 * const { data } = await session.getData('/colour');
 *
 * @throws UsageError before anything is sent.
 */
export function zookeeperClient(
  address: string | ZookeeperOptions,
  clock: Clock = systemClock(),
): ZookeeperClient {
  const destination = destinationOf(address);
  const timeoutOf = positive(destination.sessionTimeoutMs);
  return {
    start: (given) => {
      const sessionTimeoutMs = timeoutOf(given, 'sessionTimeoutMs');
      return new ZookeeperSession({ ...destination, sessionTimeoutMs }, clock);
    },
  };
}
