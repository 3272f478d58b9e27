/** What docs/guide/comparison.md says of libraries that can be asked: versions, defaults, kinds. */
import { readFileSync } from 'node:fs';
import * as verrou from '@verrou/core';
import { memoryStore } from '@verrou/core/drivers/memory';
import type { Redis } from 'ioredis';
import * as semaphores from 'redis-semaphore';
import Redlock from 'redlock';
import { createLock, MemoryAdapter } from 'redlock-universal';
import { expect, it } from 'vitest';
import { LIBRARIES } from '../sharing/libraries.ts';

const PAGE = readFileSync(new URL('../../../docs/guide/comparison.md', import.meta.url), 'utf8');
const ROOT = new URL('../../../', import.meta.url);

/** The cells of the row that begins with this. */
function row(name: string): string[] {
  const line = PAGE.split('\n').find((each) => each.startsWith(`| ${name} `)) ?? '';
  return line.split('|').map((cell) => cell.trim());
}

const versionIn = (file: string): string =>
  (JSON.parse(readFileSync(new URL(file, ROOT), 'utf8')) as { version: string }).version;

it.each(['redlock', 'redis-semaphore', '@verrou/core', 'redlock-universal'])(
  'is about the %s of the tests',
  (name) => {
    expect(versionIn(`node_modules/${name}/package.json`)).toMatch(
      new RegExp(`^v?${row(name)[2]}$`),
    );
  },
);

it('is about the libraries in Java of the tests', () => {
  const shedlock = LIBRARIES.new.with?.find(({ name }) => name === 'shedlock-spring');
  expect(row('ShedLock')[2]).toBe(shedlock?.version);
  const redisson = readFileSync(new URL('test/interop/redisson/bed.ts', ROOT), 'utf8');
  expect(redisson).toContain(`NEW = '${row('Redisson')[2]}'`);
});

it('knows how long a waiter waits by default', async () => {
  const [, , redlock, semaphore, , universal] = row('a waiter');
  const { settings } = new Redlock([{} as Redis]) as unknown as {
    settings: Record<'retryCount' | 'retryDelay' | 'retryJitter', number>;
  };
  const { retryDelay, retryJitter, retryCount } = settings;
  expect(redlock).toBe(`asks again ${retryCount} times, every ${retryDelay} ± ${retryJitter} ms`);
  const { retryInterval, acquireTimeout } = semaphores.defaultTimeoutOptions;
  expect(semaphore).toBe(`asks again for ${acquireTimeout / 1000} s, every ${retryInterval} ms`);
  const lock = createLock({ adapter: new MemoryAdapter(), key: 'a' }) as unknown as {
    getConfig(): { retryDelay: number; retryAttempts: number };
  };
  const config = lock.getConfig();
  expect(universal).toBe(`asks again ${config.retryAttempts} times, every ${config.retryDelay} ms`);
});

it('knows what ends a lock of Verrou, and when its holder can see that', async () => {
  const lock = new verrou.LockFactory(memoryStore().factory()).createLock('a', 20);
  expect(await lock.acquireImmediately()).toBe(true);
  expect(lock.isExpired()).toBe(false);
  await expect.poll(() => lock.isExpired()).toBe(true);
});

it('knows the kinds of redis-semaphore', () => {
  expect(Object.keys(semaphores).filter((name) => /Mutex|Semaphore/.test(name))).toHaveLength(6);
  expect(row('permits')[3]).toBe('yes, weighted');
});
