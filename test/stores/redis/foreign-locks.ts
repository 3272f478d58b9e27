/** Programs that know nothing of ours, each with its own way to the same key. */
import { randomUUID } from 'node:crypto';
import { Verrou } from '@verrou/core';
import { redisStore as verrouStore } from '@verrou/core/drivers/redis';
import type { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';

export interface ForeignHold {
  /** Gives it a new life of as many ms; false if it was lost. */
  extend(ms: number): Promise<boolean>;
  /** False if there was nothing to release. */
  release(): Promise<boolean>;
}

export interface ForeignLock {
  readonly name: string;
  /** Where it keeps the lock of this name. */
  keyOf(name: string): string;
  /** Tries once. */
  take(client: Redis, name: string, ttlMs: number): Promise<ForeignHold | undefined>;
}

const DELETE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
  return 0`;

const PROLONG = `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;

const same = (name: string): string => name;

/** `SET NX PX` with a value of one's own, compared by a script before it is touched. */
const byHand: ForeignLock = {
  name: 'a lock written by hand',
  keyOf: same,
  async take(client, key, ttlMs) {
    const value = randomUUID();
    if ((await client.set(key, value, 'PX', ttlMs, 'NX')) !== 'OK') return undefined;
    const ask = async (script: string, ...args: number[]): Promise<boolean> =>
      (await client.eval(script, 1, key, value, ...args)) === 1;
    return { extend: (ms) => ask(PROLONG, ms), release: () => ask(DELETE) };
  },
};

const redlock: ForeignLock = {
  name: 'node-redlock',
  keyOf: same,
  async take(client, key, ttlMs) {
    const redlock = new Redlock([client], { retryCount: 0 });
    let lock = await redlock.acquire([key], ttlMs).catch(() => undefined);
    if (!lock) return undefined;
    return {
      async extend(ms) {
        const extended = await lock?.extend(ms).catch(() => undefined);
        if (extended) lock = extended;
        return extended !== undefined;
      },
      release: async () => (await lock?.release().catch(() => undefined)) !== undefined,
    };
  },
};

const redisSemaphore: ForeignLock = {
  name: "redis-semaphore's mutex",
  keyOf: (name) => `mutex:${name}`,
  async take(client, name, ttlMs) {
    // It would prolong by itself.
    const mutex = new Mutex(client, name, { lockTimeout: ttlMs, refreshInterval: 0 });
    const key = `mutex:${name}`;
    const { identifier } = mutex;
    if (!(await mutex.tryAcquire())) return undefined;
    return {
      extend: async (ms) => (await client.eval(PROLONG, 1, key, identifier, ms)) === 1,
      // It does not tell.
      async release() {
        const held = (await client.get(key)) === identifier;
        await mutex.release();
        return held;
      },
    };
  },
};

const verrou: ForeignLock = {
  name: 'Verrou',
  keyOf: same,
  async take(client, key, ttlMs) {
    const redis = { driver: verrouStore({ connection: client }) };
    const lock = new Verrou({ default: 'redis', stores: { redis } }).createLock(key, ttlMs);
    if (!(await lock.acquireImmediately())) return undefined;
    const done = (asked: Promise<unknown>): Promise<boolean> =>
      asked.then(
        () => true,
        () => false,
      );
    return { extend: (ms) => done(lock.extend(ms)), release: () => done(lock.release()) };
  },
};

export const FOREIGN_LOCKS: readonly ForeignLock[] = [redlock, redisSemaphore, verrou, byHand];
