/**
 * The store that a Redis URL names, with whichever client package is installed.
 */

import { clockOffset, type ServerFacts } from '../../clients/facts/server-facts.ts';
import { linkOf } from '../../clients/redis/client.ts';
import { parseRedisUrl, type RedisUrl } from '../../clients/redis/url.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type RedisClient, type RedisOptions, redisStore } from './index.ts';

/**
 * The query of the URL holds options of the store. The store connects with its first verb.
 * @throws UsageError for a malformed URL, UnsupportedError if no client is installed.
 */
export async function openUrl(scheme: string, rest: string): Promise<Store> {
  const { client, options } = await clientAt<RedisOptions>(scheme, rest);
  return redisStore(client, options);
}

/** What the server says of itself; in a cluster, one of its primaries. */
export async function facts(scheme: string, rest: string): Promise<ServerFacts> {
  const { client } = await clientAt(scheme.replace('redisson+', ''), rest);
  const link = linkOf(client);
  try {
    const [ask = () => Promise.reject(new Error('There is no primary.'))] = await link.primaries();
    const version = versionIn(String(await ask(['INFO', 'server'])));
    const clock = await clockOffset(async () => {
      const [seconds, micros] = (await ask(['TIME'])) as readonly string[];
      return Number(seconds) * 1000 + Number(micros) / 1000;
    });
    return { version, clock };
  } finally {
    await link.close();
  }
}

/** Valkey also names the version of Redis that it can do what it can. */
function versionIn(info: string): string {
  const [, valkey] = /^valkey_version:(\S+)/m.exec(info) ?? [];
  const [, redis = 'of unknown version'] = /^redis_version:(\S+)/m.exec(info) ?? [];
  return valkey ? `Valkey ${valkey}` : `Redis ${redis}`;
}

/** The client that the URL names, and the options in its query. */
export async function clientAt<T>(
  scheme: string,
  rest: string,
): Promise<{ readonly client: RedisClient; readonly options: T }> {
  const url = parseRedisUrl(scheme, rest);
  const options = optionsFrom<T>(Object.entries(url.query));
  const client = (await withIoredis(url)) ?? (await withNodeRedis(url));
  if (client) return { client, options };
  const message = 'A Redis URL needs a client: run `npm install ioredis` or `npm install redis`.';
  throw new UnsupportedError('store', message);
}

/** Makes a client that never connects: the store opens connections of its own like it. */
async function withIoredis(url: RedisUrl): Promise<RedisClient | undefined> {
  const { addresses, path, username, password, database: db } = url;
  const ioredis = await import('ioredis').catch(() => undefined);
  if (!ioredis) return undefined;
  const { Redis, Cluster } = ioredis;
  const settings = {
    lazyConnect: true,
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(url.tls && { tls: {} }),
  };
  switch (url.kind) {
    case 'socket':
      return new Redis({ ...settings, path });
    case 'sentinel':
      return new Redis({
        ...settings,
        sentinels: [...addresses],
        name: path,
        enableTLSForSentinelMode: url.tls,
      });
    case 'cluster':
      return new Cluster([...addresses], { lazyConnect: true, redisOptions: settings });
    default:
      return new Redis({ ...settings, ...addresses[0] });
  }
}

async function withNodeRedis(url: RedisUrl): Promise<RedisClient | undefined> {
  const { addresses, path, username, password, database } = url;
  const redis = await import('redis').catch(() => undefined);
  if (!redis) return undefined;
  const tls = url.tls ? { tls: true as const } : {};
  const settings = {
    database,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
  switch (url.kind) {
    case 'socket':
      return redis.createClient({ ...settings, socket: { path, tls: false } });
    case 'sentinel': {
      const client = redis.createSentinel({
        name: path,
        sentinelRootNodes: [...addresses],
        nodeClientOptions: { ...settings, socket: tls },
        sentinelClientOptions: { socket: tls },
      });
      if ('duplicate' in client) return client;
      const message = 'A Sentinel URL needs the package ioredis, or redis from version 6 on.';
      throw new UnsupportedError('store', message);
    }
    case 'cluster':
      return redis.createCluster({
        rootNodes: addresses.map((address) => ({ ...settings, socket: { ...address, ...tls } })),
        defaults: { ...settings, socket: tls },
      });
    default:
      return redis.createClient({ ...settings, socket: { ...addresses[0], ...tls } });
  }
}
