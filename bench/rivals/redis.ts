/**
 * The other libraries, each as its README uses it: with its defaults, or tuned for contention, with
 * short delays between its tries and as many tries as it takes.
 */
import { Redis } from 'ioredis';
import { Mutex, type TimeoutOptions } from 'redis-semaphore';
import Redlock from 'redlock';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';

/**
 * Between two tries when tuned. With 1 ms a hand-off in one process takes a third to a half of the
 * time, and an acquisition up to three times as many commands; across processes it is no faster.
 */
const DELAY_MS = 5;
const EVER = 1_000_000;

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

function redisSemaphore(url: string, settings: TimeoutOptions = {}): Connected {
  const client = new Redis(url);
  return {
    task: (resource) => {
      const options = { lockTimeout: TTL_MS, ...settings };
      const mutex = new Mutex(client, `redis-semaphore:${resource}`, options);
      return async () => {
        await mutex.acquire();
        return () => mutex.release();
      };
    },
    close: () => client.quit(),
  };
}

export const rivals: Readonly<Record<string, Connect>> = {
  redlock: (url) => redlockOn([url]),
  'redlock, tuned': (url) =>
    redlockOn([url], { retryCount: EVER, retryDelay: DELAY_MS, retryJitter: DELAY_MS }),
  'redis-semaphore': (url) => redisSemaphore(url),
  'redis-semaphore, tuned': (url) =>
    redisSemaphore(url, { retryInterval: DELAY_MS, acquireTimeout: EVER }),
};
