/**
 * What the store needs of a client, whichever package it comes from.
 *
 * Clients are told apart by what they have, never by `instanceof`: a program may have two copies of
 * a package. None is used for commands, only to make connections like it, by its `duplicate`.
 */
import type { Ear } from '../wakes.ts';
import { checkClient } from './check-client.ts';
import { ClusterLink } from './cluster-link.ts';
import { Connection, greeted, type Source } from './connection.ts';
import {
  type IoredisClient,
  type IoredisCluster,
  ioredisDiscover,
  ioredisSource,
} from './ioredis-link.ts';
import {
  type NodeRedisClient,
  type NodeRedisCluster,
  type NodeRedisSentinel,
  nodeRedisDiscover,
  nodeRedisSentinelSource,
  nodeRedisSource,
} from './node-redis-link.ts';
import { Subscriptions } from './subscription.ts';

/** As RESP2 has it; `null` where there is nothing. */
export type Reply = string | number | null | readonly Reply[];

/** An error that the server answered, as opposed to one of the connection. */
export interface Refusal {
  readonly refusal: string;
}

/** Connections to one server, to the primary that Sentinel names, or to a cluster. */
export interface Link {
  /** True: keys of one command must be of one slot, and each slot has a server. */
  readonly cluster: boolean;
  /**
   * Sends a command to the server of this key, on a connection of our own. Never sent again by the
   * client once it may have been carried out.
   * @throws StoreError, also for what the server refuses.
   */
  send(key: string, command: readonly string[]): Promise<Reply>;
  /** Several commands, one right after the other on one connection; each with its own outcome. */
  sendAll(key: string, commands: readonly (readonly string[])[]): Promise<(Reply | Refusal)[]>;
  /** In a cluster: the lowest slot of the server that has this key. */
  lowestSlot(key: string): Promise<number>;
  /** The same command to every primary, as for SCAN: one sender for each. */
  primaries(): Promise<readonly ((command: readonly string[]) => Promise<Reply>)[]>;
  /** On a connection of its own. */
  listen: Ear['listen'];
  close(): Promise<void>;
}

/**
 * Asks the server of a new connection, before anything else is written on it; the connection is
 * not made if this rejects.
 */
export type Greeting = (
  ask: (command: readonly string[]) => Promise<Reply>,
  at: { readonly cluster: boolean },
) => Promise<void>;

/** Clients of `ioredis` (5.4 and newer) and of node-redis, the package `redis` (5 and newer). */
export type RedisClient =
  | IoredisClient
  | IoredisCluster
  | NodeRedisClient
  | NodeRedisCluster
  | NodeRedisSentinel;

/**
 * Connects nothing yet: the first command does.
 * @throws UsageError for what is no client of these packages, or one that cannot be duplicated.
 */
export function linkOf(client: RedisClient, greeting: Greeting = async () => {}): Link {
  checkClient(client);
  if ('isCluster' in client) {
    if (!('nodes' in client)) return singleLink(ioredisSource(client), greeting);
    return new ClusterLink(ioredisDiscover(client), greeting);
  }
  if ('getSentinelNode' in client) return singleLink(nodeRedisSentinelSource(client), greeting);
  if ('nodeClient' in client) return new ClusterLink(nodeRedisDiscover(client), greeting);
  return singleLink(nodeRedisSource(client), greeting);
}

function singleLink(source: Source, greeting: Greeting): Link {
  const connection = new Connection(greeted(source, (ask) => greeting(ask, { cluster: false })));
  const subscriptions = new Subscriptions();
  return {
    cluster: false,
    send: (_, command) => connection.send(command),
    sendAll: (_, commands) => connection.sendAll(commands),
    lowestSlot: async () => 0,
    primaries: async () => [(command) => connection.send(command)],
    listen: (channel, received, resumed) =>
      subscriptions.start(source, { channel, received, resumed }),
    close: async () => {
      connection.close();
      subscriptions.close();
    },
  };
}
