/** Redis as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import {
  type EnterToken,
  type RedisEntry,
  type RedisFence,
  type RedisFenceOptions,
  type RedisValue,
  redisFence,
} from 'holdfast/fence';
import { type RedisClient, type RedisOptions, redisStore } from 'holdfast/redis';
import { expect, onTestFinished } from 'vitest';
import { Bed as AnyBed, MAX_TTL_MS, type Place } from '../../methods/faults/bed.ts';
import { RedisServer, type RedisServerOptions } from '../../servers/redis-server.ts';
import { listed } from '../../support/listed.ts';
import { until } from '../../support/until.ts';
import { LATEST } from './packages.ts';

export type ClientName = 'ioredis' | 'node-redis';

export interface StoreOptions extends RedisOptions {
  /** Default `ioredis`. */
  readonly client?: ClientName;
}

export class Bed extends AnyBed<StoreOptions, RedisServer> {
  async server(options?: RedisServerOptions): Promise<RedisServer> {
    const server = this.serve(await RedisServer.start(options));
    await this.settle(server);
    return server;
  }

  /** Nothing was lost here, for the server has just been set up. */
  async settle(at: RedisServer): Promise<void> {
    const store = this.store(at);
    await store.inspect('anything');
    await store.close?.();
    await settle(at);
  }

  store(at: Place, { client = 'ioredis', ...options }: StoreOptions = {}): Store {
    const { server } = LATEST.find(({ name }) => name.startsWith(client))!;
    return this.use(redisStore(server(at), { maxTtl: MAX_TTL_MS, ...options }));
  }

  urlOf({ url }: RedisServer, maxTtlMs: number): string {
    return `${url}?maxTtl=${maxTtlMs}ms`;
  }

  /** Nothing but the record of the store, and graves. */
  async expectNothingLeft(server: RedisServer): Promise<void> {
    // The server hears of a closed connection a moment later.
    await until('were all connections closed', async () => {
      const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'NORMAL'));
      const listeners = String(await server.command('CLIENT', 'LIST', 'TYPE', 'PUBSUB'));
      return `${clients}${listeners}`.trim().split('\n').length === 1;
    });
    expect(await server.command('PUBSUB', 'CHANNELS')).toEqual([]);
    const store = this.store(server);
    expect(await listed(store.list?.(''))).toEqual([]);
    await store.close?.();
    const keys = (await server.command('KEYS', '*')) as string[];
    for (const key of keys.filter((each) => !/^holdfast:!record/.test(each))) {
      // It may be gone by now; what stays for ever has -1.
      expect(await server.command('PTTL', key), key).not.toBe(-1);
    }
  }
}

/** Where a record says from when on there are grants, and such a moment long ago. */
const OPEN_AT = 41;
const LONG_AGO = '0000100000000';

/** Ends the quarantines that the records of these primaries tell of, of any namespace. */
export async function settle(...servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    for (const key of (await server.command('KEYS', '*!record*')) as string[]) {
      // What says that programs have other keys is no record.
      if ((await server.command('GETRANGE', key, 0, 0)) !== '1') continue;
      await server.command('SETRANGE', key, OPEN_AT, LONG_AGO);
    }
  }
}

/** Returns once this server has been up for so many seconds, as it counts them: whole ones. */
export async function upFor(server: RedisServer, seconds: number): Promise<void> {
  await until('was it up for long', async () => {
    const info = String(await server.command('INFO', 'server'));
    return Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]) >= seconds;
  });
}

/** A fence until the end of the test, and its way through this client. */
export function fenceOn(client: RedisClient, options?: RedisFenceOptions): FenceOn {
  const fence = redisFence(options);
  onTestFinished(() => fence.close());
  return {
    enter: (lease) => fence.enter(client, lease),
    adopt: (lease) => fence.adopt(client, lease),
    keyOf: fence.keyOf,
  };
}

export interface FenceOn extends Pick<RedisFence, 'keyOf'> {
  enter(lease: EnterToken): Promise<RedisEntry>;
  adopt(lease: EnterToken): Promise<RedisEntry>;
}

/** What an entry reads: the check comes first. */
export async function get(entry: RedisEntry, key: string): Promise<unknown> {
  const [value] = await entry.write([['GET', key]]);
  return value;
}

export async function set(entry: RedisEntry, key: string, value: RedisValue): Promise<void> {
  await entry.write([['SET', key, value]]);
}

export async function add(entry: RedisEntry, key: string, by = 1): Promise<unknown> {
  const [value] = await entry.write([['INCRBY', key, by]]);
  return value;
}
