/**
 * The other libraries, each as its README uses it: with its defaults, or tuned for contention, with
 * short delays between its tries and as many tries as it takes.
 */
import { redisStore as verrouStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';
import { createLock, IoredisAdapter, NodeRedisAdapter } from 'redlock-universal';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';
import { DELAY_MS, verrouOn } from './verrou.ts';

const EVER = 1_000_000;

function redlock(url: string, tuned: boolean): Connected {
  const settings = { retryCount: EVER, retryDelay: DELAY_MS, retryJitter: DELAY_MS };
  return redlockOn([url], tuned ? settings : {});
}

/** Over servers of their own. */
export function redlockOn(
  urls: readonly string[],
  settings: ConstructorParameters<typeof Redlock>[1] = {},
): Connected {
  const clients = urls.map((url) => new Redis(url));
  const locks = new Redlock(clients, settings);
  return {
    task: (resource) => async () => {
      const lock = await locks.acquire([`redlock:${resource}`], TTL_MS);
      return () => lock.release();
    },
    close: () => Promise.all(clients.map((client) => client.quit())),
  };
}

function redisSemaphore(url: string, tuned: boolean): Connected {
  const client = new Redis(url);
  const settings = { retryInterval: DELAY_MS, acquireTimeout: EVER };
  return {
    task: (resource) => {
      const options = { lockTimeout: TTL_MS, ...(tuned && settings) };
      const mutex = new Mutex(client, `redis-semaphore:${resource}`, options);
      return async () => {
        await mutex.acquire();
        return () => mutex.release();
      };
    },
    close: () => client.quit(),
  };
}

function verrou(url: string, tuned: boolean): Connected {
  const client = new Redis(url);
  return verrouOn(verrouStore({ connection: client }), tuned, () => client.quit());
}

// It was written against the types of ioredis 5.
type OfIoredis = ConstructorParameters<typeof IoredisAdapter>[0];
type OfNodeRedis = ConstructorParameters<typeof NodeRedisAdapter>[0];

function universal(url: string, tuned: boolean): Connected {
  const client = new Redis(url);
  const adapted = new IoredisAdapter(client as unknown as OfIoredis);
  return { task: universalTask(adapted, tuned), close: () => client.quit() };
}

async function universalNodeRedis(url: string): Promise<Connected> {
  const client = await createClient({ url }).connect();
  const adapted = new NodeRedisAdapter(client as unknown as OfNodeRedis);
  return { task: universalTask(adapted, false), close: () => client.close() };
}

function universalTask(
  adapted: IoredisAdapter | NodeRedisAdapter,
  tuned: boolean,
): Connected['task'] {
  const settings = { retryAttempts: EVER, retryDelay: DELAY_MS };
  return (resource) => {
    const options = { adapter: adapted, key: `universal:${resource}`, ttl: TTL_MS };
    const lock = createLock({ ...options, ...(tuned && settings) });
    return async () => {
      const held = await lock.acquire();
      return () => lock.release(held);
    };
  };
}

const MAKERS = {
  redlock,
  'redis-semaphore': redisSemaphore,
  '@verrou/core': verrou,
  'redlock-universal': universal,
};

export const RIVALS: readonly string[] = Object.keys(MAKERS);

export const rivals: Readonly<Record<string, Connect>> = {
  ...Object.fromEntries(
    Object.entries(MAKERS).flatMap(([name, make]): [string, Connect][] => [
      [name, (url) => make(url, false)],
      [`${name}, tuned`, (url) => make(url, true)],
    ]),
  ),
  'redlock-universal, node-redis': universalNodeRedis,
};
