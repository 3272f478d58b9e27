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
import { type Connected, TTL_MS } from '../contender.ts';
import { DELAY_MS, verrouOn } from '../verrou.ts';

const EVER = 1_000_000;

export async function redlock(url: string, tuned: boolean): Promise<Connected> {
  const client = new Redis(url);
  const settings = { retryCount: EVER, retryDelay: DELAY_MS, retryJitter: DELAY_MS };
  const locks = new Redlock([client], tuned ? settings : {});
  return {
    task: (resource) => async () => {
      const lock = await locks.acquire([`redlock:${resource}`], TTL_MS);
      return () => lock.release();
    },
    close: () => client.quit(),
  };
}

export async function redisSemaphore(url: string, tuned: boolean): Promise<Connected> {
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

export async function verrou(url: string, tuned: boolean): Promise<Connected> {
  const client = new Redis(url);
  return verrouOn(verrouStore({ connection: client }), tuned, () => client.quit());
}

type UniversalClient = ConstructorParameters<typeof IoredisAdapter>[0];

export async function universal(url: string, tuned: boolean): Promise<Connected> {
  const client = new Redis(url);
  // It was written against the types of ioredis 5.
  const adapted = new IoredisAdapter(client as unknown as UniversalClient);
  return { task: universalTask(adapted, tuned), close: () => client.quit() };
}

export async function universalNodeRedis(url: string): Promise<Connected> {
  const client = createClient({ url });
  await client.connect();
  type Adapted = ConstructorParameters<typeof NodeRedisAdapter>[0];
  const adapted = new NodeRedisAdapter(client as unknown as Adapted);
  return { task: universalTask(adapted, false), close: () => client.close() };
}

function universalTask(
  adapted: IoredisAdapter | NodeRedisAdapter,
  tuned: boolean,
): Connected['task'] {
  const settings = { retryAttempts: EVER, retryDelay: DELAY_MS };
  return (resource) => {
    const lock = createLock({
      ...{ adapter: adapted, key: `universal:${resource}`, ttl: TTL_MS },
      ...(tuned && settings),
    });
    return async () => {
      const held = await lock.acquire();
      return () => lock.release(held);
    };
  };
}
