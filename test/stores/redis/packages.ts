/** The client packages, each in both of its versions, behind one way to make their clients. */
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { createClient, createCluster, createSentinel } from 'redis';
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis5';
import { linkOf, type RedisClient } from '../../../src/clients/redis/client.ts';
import type { RedisLink } from '../../../src/clients/redis/link.ts';
import { Lifetime } from '../../methods/faults/lifetime.ts';

export type Place = { readonly host: string; readonly port: number };

export interface Settings {
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
  /** What the connections are called in CLIENT LIST. */
  readonly name?: string;
  readonly ca?: string;
  readonly protocol?: 2 | 3;
}

export interface Package {
  readonly name: string;
  server(place: Place, settings?: Settings): RedisClient;
  cluster(places: readonly Place[], settings?: Settings): RedisClient;
  /** Not yet connected where it can be duplicated. */
  sentinel(places: readonly Place[], name: string): Promise<RedisClient>;
}

const ioredis6 = { Redis, Cluster };
const ioredis5 = { Redis: Redis5, Cluster: Cluster5 };

function ioredis(name: string, version: typeof ioredis6 | typeof ioredis5): Package {
  const made = version as typeof ioredis6;
  const options = ({ name, database, ca, protocol, ...rest }: Settings): object => ({
    ...{ lazyConnect: true, ...rest },
    ...(name && { connectionName: name }),
    ...(database && { db: database }),
    ...(ca && { tls: { ca } }),
    ...(protocol && { protocol }),
  });
  return {
    name,
    server: (place, settings = {}) => new made.Redis({ ...place, ...options(settings) }),
    cluster: (places, settings = {}) =>
      new made.Cluster([...places], { lazyConnect: true, redisOptions: options(settings) }),
    sentinel: async (places, name) =>
      new made.Redis({ sentinels: [...places], name, lazyConnect: true }),
  };
}

const nodeRedis6 = { createClient, createCluster, createSentinel };
const nodeRedis5 = {
  createClient: createClient5,
  createCluster: createCluster5,
  createSentinel: createSentinel5,
};

function nodeRedis(name: string, version: typeof nodeRedis6 | typeof nodeRedis5): Package {
  const { createClient, createCluster, createSentinel } = version as typeof nodeRedis6;
  const options = ({ ca, protocol, ...rest }: Settings): object => ({
    ...rest,
    ...(protocol && { RESP: protocol }),
    ...(ca && { socket: { tls: true, ca } }),
  });
  return {
    name,
    server: ({ host, port }, { ca, ...settings } = {}) =>
      createClient({
        ...options(settings),
        socket: ca ? { host, port, tls: true, ca } : { host, port },
      }),
    cluster: (places, settings = {}) =>
      createCluster({
        rootNodes: places.map((place) => ({ socket: { ...place } })),
        defaults: options(settings),
      }),
    sentinel: async (places, name) => {
      const client = createSentinel({ name, sentinelRootNodes: [...places] });
      client.on('error', () => {});
      if (!('duplicate' in client)) await (client as { connect(): Promise<unknown> }).connect();
      return client;
    },
  };
}

export const packages: readonly Package[] = [
  ioredis('ioredis 6', ioredis6),
  ioredis('ioredis 5', ioredis5),
  nodeRedis('node-redis 6', nodeRedis6),
  nodeRedis('node-redis 5', nodeRedis5),
];

/** The newest of each. */
export const LATEST: readonly Package[] = packages.filter(({ name }) => name.endsWith('6'));

/** Closes what was connected by hand. */
export async function end(client: RedisClient): Promise<void> {
  if (!('isOpen' in client)) client.disconnect();
  else if (client.isOpen) await client.destroy();
}

/** Links that close with the test, and then their servers. */
export class Links extends Lifetime {
  to(client: RedisClient): RedisLink {
    // Version 5 of node-redis has to be connected, and is not closed by its link.
    if ('getSentinelNode' in client) this.use({ close: () => end(client) });
    return this.use(linkOf(client));
  }
}
