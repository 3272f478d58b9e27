/** What the fault tests share: servers, clients, stores and locks, which end with the test. */
import { randomBytes } from 'node:crypto';
import { type Claim, createLocks, type Locks, type Store } from 'holdfast';
import { type RedisOptions, redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { expect } from 'vitest';
import { RedisServer, type RedisServerOptions } from '../servers/redis-server.ts';
import { until } from '../servers/until.ts';

/** Three heartbeats fit even when the machine is busy, and a few lives fit into a test. */
export const TTL_MS = 1000;

/** Nothing dies of old age in a test, however busy the machine. */
export const LONG_TTL_MS = 30_000;

/** A quarantine is felt, and the longest claim of a test fits. */
export const MAX_TTL_MS = 1200;

/** Where a server, or a proxy before it, listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

export type ClientName = 'ioredis' | 'node-redis';

export interface StoreOptions extends RedisOptions {
  /** Default `ioredis`. */
  readonly client?: ClientName;
}

interface Closable {
  close?(): unknown;
}

export class Bed implements AsyncDisposable {
  readonly #servers: Closable[] = [];
  readonly #users: Closable[] = [];

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    await Promise.all(this.#servers.splice(0).map((server) => server.close?.()));
  }

  /** Stores and locks close, those that came last first; servers go on. */
  async leave(): Promise<void> {
    for (const user of this.#users.splice(0).reverse()) await user.close?.();
  }

  /** Closes it with the test: a server, or what stands before one. */
  serve<T extends Closable>(server: T): T {
    this.#servers.push(server);
    return server;
  }

  /** Closes it before the servers. */
  use<T extends Closable>(user: T): T {
    this.#users.push(user);
    return user;
  }

  /** A server that provably has nothing to lose, so that nobody waits for the first grant. */
  async server(options?: RedisServerOptions): Promise<RedisServer> {
    const server = this.serve(await RedisServer.start(options));
    await this.settle(server);
    return server;
  }

  /** Nothing was lost here, for the server has just been set up. */
  async settle(at: Place): Promise<void> {
    const store = this.store(at, { afterDataLoss: 'trust' });
    await store.inspect('anything');
    await store.close?.();
  }

  store(at: Place, { client = 'ioredis', ...options }: StoreOptions = {}): Store {
    return this.use(redisStore(clientOf(client, at), { maxTtl: MAX_TTL_MS, ...options }));
  }

  locks(at: Place, options: StoreOptions = {}): Locks {
    return this.locksOn(this.store(at, options));
  }

  /** For what has nothing to do with time. */
  patientLocks(at: Place, options: StoreOptions = {}): Locks {
    return this.locksOn(this.store(at, { maxTtl: LONG_TTL_MS, ...options }), LONG_TTL_MS);
  }

  locksOn(store: Store, ttl: number = TTL_MS): Locks {
    const locks = createLocks(store, { ttl });
    this.use({ close: () => locks.close({ drain: 0 }) });
    return locks;
  }
}

/** Never connected itself: the store makes connections like it. */
function clientOf(
  name: ClientName,
  { host, port }: Place,
): Redis | ReturnType<typeof createClient> {
  if (name === 'ioredis') return new Redis({ host, port, lazyConnect: true });
  return createClient({ socket: { host, port } });
}

export function claimOf(resource: string, over: Partial<Claim> = {}): Claim {
  return {
    ...{ resource, id: randomBytes(16).toString('hex'), kind: 'mutex', permits: 1, limit: 1 },
    ...{ ttlMs: LONG_TTL_MS, queue: true, holder: { host: 'test', pid: process.pid, since: 0 } },
    ...over,
  };
}

/** When everybody has left, nothing stays but the record of the store and graves that pass. */
export async function expectNothingLeft(server: RedisServer): Promise<void> {
  // The server hears of a closed connection a moment later.
  await until('were all connections closed', async () => {
    const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'NORMAL'));
    const listeners = String(await server.command('CLIENT', 'LIST', 'TYPE', 'PUBSUB'));
    return `${clients}${listeners}`.trim().split('\n').length === 1;
  });
  expect(await server.command('PUBSUB', 'CHANNELS')).toEqual([]);
  const store = redisStore(new Redis({ ...server, lazyConnect: true }), { maxTtl: MAX_TTL_MS });
  const named: string[] = [];
  for await (const name of store.list?.('') ?? []) named.push(name);
  await store.close?.();
  expect(named).toEqual([]);
  const keys = (await server.command('KEYS', '*')) as string[];
  for (const key of keys.filter((each) => !/^holdfast!store/.test(each))) {
    // It may be gone by now; what stays for ever has -1.
    expect(await server.command('PTTL', key), key).not.toBe(-1);
  }
}

/** Somebody stands in this queue. */
export async function hasWaiter(locks: Locks, name: string): Promise<void> {
  await until('waited anybody', async () => (await locks.inspect(name)).waiters.length === 1);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
