/** The keys and channels of other libraries, which are played by commands of a client. */
import { createLocks, type Store } from 'holdfast';
import { shedlockRedisStore } from 'holdfast/shedlock';
import { springRedisStore } from 'holdfast/spring';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { Bed } from './bed.ts';

let bed: Bed;
let server: RedisServer;
let client: Redis;

beforeEach(async () => {
  bed = new Bed();
  server = bed.serve(await RedisServer.start());
  client = new Redis(server.url);
  bed.use({ close: () => client.disconnect() });
});
afterEach(() => bed[Symbol.asyncDispose]());

const TRUST = { afterDataLoss: 'trust' } as const;

describe('a registry of Spring', () => {
  const open = (given: Parameters<typeof springRedisStore>[0] = client): Store =>
    bed.use(springRedisStore(given, { registryKey: 'shop?', retry: '1h', maxTtl: '1h', ...TRUST }));

  it('is told of a release, with the key, and not of what was not released', async () => {
    const store = open();
    const heard: string[] = [];
    const ear = new Redis(server.url);
    bed.use({ close: () => ear.disconnect() });
    ear.on('pmessage', (_, channel, message) => heard.push(`${channel} ${message}`));
    await ear.psubscribe('shop\\?-channel:*');
    const claim = claimOf('order');
    await store.claim([claim]);
    await store.release([claimOf('order')]);
    await store.renew([claim]);
    await store.release([claim]);
    await expect.poll(() => heard).toEqual(['shop?-channel:shop?:order shop?:order']);
  });

  it.each([
    ['ioredis', async () => client],
    [
      'node-redis',
      async () => {
        const other = createClient({ url: server.url });
        await other.connect();
        bed.use({ close: () => other.destroy() });
        return other;
      },
    ],
  ])('tells us of its releases, through %s', async (_, clientOf) => {
    await client.set('shop?:order', 'a registry');
    // Neither a heartbeat nor another try comes within the test.
    const locks = createLocks(open(await clientOf()), { ttl: '1h' });
    const waiting = locks.mutex('order').acquire();
    await sleep(200);
    await client.del('shop?:order');
    // Of another lock.
    await client.publish('shop?-channel:shop?:other', 'shop?:other');
    await client.publish('shop?-channel:shop?:order', 'shop?:order');
    const lease = await waiting;
    expect(lease).toHaveProperty('held', true);
    await lease.release();
    await locks.close();
  });

  it.each([{}, { registryKey: '' }, { registryKey: 'a b' }, { registryKey: 'a', key: 'b' }])(
    'is refused with %o',
    (options) => {
      expect(() => springRedisStore(client, options as never)).toThrow(
        expect.objectContaining({ code: 'USAGE' }),
      );
    },
  );
});

describe('ShedLock', () => {
  it.each([
    [{}, 'job-lock:default:nightly'],
    [{ environment: 'test', keyPrefix: 'jobs' }, 'jobs:test:nightly'],
    [{ name: (name: string) => name.toUpperCase() }, 'job-lock:default:NIGHTLY'],
  ])('with %o has the key %s', async (options, key) => {
    const store = bed.use(shedlockRedisStore(client, { ...TRUST, ...options }));
    await store.claim([claimOf('nightly')]);
    expect(await client.exists(key)).toBe(1);
  });

  it.each([{ environment: '' }, { keyPrefix: 1 }, { name: 'a' }])(
    'is refused with %o',
    (options) => {
      expect(() => shedlockRedisStore(client, options as never)).toThrow(
        expect.objectContaining({ code: 'USAGE' }),
      );
    },
  );
});
