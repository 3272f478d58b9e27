/** From a client of the user to a link, which duplicates it and sends nothing through it. */

import { Channels } from '../channels.ts';
import { checkClient } from './check-client.ts';
import { ClusterLink } from './cluster/cluster-link.ts';
import { greeted, RedisConnection, type RedisSource } from './connection.ts';
import {
  type IoredisClient,
  type IoredisCluster,
  ioredisDiscover,
  ioredisServerSource,
} from './ioredis-link.ts';
import type { RedisGreeting, RedisLink } from './link.ts';
import {
  type NodeRedisClient,
  type NodeRedisCluster,
  type NodeRedisSentinel,
  nodeRedisDiscover,
  nodeRedisSentinelSource,
  nodeRedisSource,
} from './node-redis-link.ts';

/** Clients of `ioredis` (5.4 and newer) and of node-redis, the package `redis` (5 and newer). */
export type RedisClient =
  | IoredisClient
  | IoredisCluster
  | NodeRedisClient
  | NodeRedisCluster
  | NodeRedisSentinel;

/** @throws UsageError if it is not a client of these packages, or cannot be duplicated. */
export function linkOf(client: RedisClient, greeting: RedisGreeting = async () => {}): RedisLink {
  checkClient(client);
  if ('isCluster' in client) {
    if (!('nodes' in client)) return singleLink(ioredisServerSource(client), greeting);
    return new ClusterLink(ioredisDiscover(client), greeting);
  }
  if ('getSentinelNode' in client) return singleLink(nodeRedisSentinelSource(client), greeting);
  if ('nodeClient' in client) return new ClusterLink(nodeRedisDiscover(client), greeting);
  return singleLink(nodeRedisSource(client), greeting);
}

function singleLink(source: RedisSource, greeting: RedisGreeting): RedisLink {
  const channels = new Channels(source);
  let leaveSentinels: (() => void) | undefined;
  let opened = false;
  const commands: RedisSource = {
    ...source,
    open: async (terms) => {
      leaveSentinels ??= source.failovers?.(() => connection.move());
      const wire = await source.open(terms);
      // An endpoint may lead to another server, while the old one keeps those that listen.
      if (opened) channels.move();
      opened = true;
      return wire;
    },
  };
  const connection = new RedisConnection(greeted(commands, greeting, { cluster: false }));
  return {
    cluster: false,
    database: source.database ?? '?',
    send: (_, command) => connection.send(command),
    sendAll: (_, commands) => connection.sendAll(commands),
    lowestSlot: async () => 0,
    primaries: async () => [(command) => connection.send(command)],
    follow: (_, channel, wake) => channels.follow(channel, wake),
    close: async () => {
      leaveSentinels?.();
      channels.close();
      connection.close();
    },
  };
}
