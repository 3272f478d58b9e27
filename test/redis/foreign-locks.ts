/** Programs that know nothing of ours, each with its own way to the same key. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import Redlock from 'redlock';

export interface ForeignHold {
  /** Gives it a new life of as many ms; false if it was lost. */
  extend(ms: number): Promise<boolean>;
  /** False if there was nothing to release. */
  release(): Promise<boolean>;
}

export interface ForeignLock {
  readonly name: string;
  /** Tries once. */
  take(client: Redis, key: string, ttlMs: number): Promise<ForeignHold | undefined>;
}

const DELETE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
  return 0`;

const PROLONG = `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;

/** `SET NX PX` with a value of one's own, compared by a script before it is touched. */
function plain(name: string, makeValue: () => string): ForeignLock {
  return {
    name,
    async take(client, key, ttlMs) {
      const value = makeValue();
      if ((await client.set(key, value, 'PX', ttlMs, 'NX')) !== 'OK') return undefined;
      const ask = async (script: string, ...args: (string | number)[]): Promise<boolean> =>
        (await client.eval(script, 1, key, value, ...args)) === 1;
      return { extend: (ms) => ask(PROLONG, ms), release: () => ask(DELETE) };
    },
  };
}

const redlock: ForeignLock = {
  name: 'node-redlock',
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

export const FOREIGN_LOCKS: readonly ForeignLock[] = [
  redlock,
  // Its value is standard Base64 of 16 bytes.
  plain("redsync's layout", () => randomBytes(16).toString('base64')),
  plain('a lock written by hand', randomUUID),
];
