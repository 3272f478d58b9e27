/** The keys of the store, and the options of all that have their locks in Redis. */
import { createLocks, type Store } from 'holdfast';
import { plainRedisStore, redisStore } from 'holdfast/redis';
import { redissonStore } from 'holdfast/redisson';
import { shedlockRedisStore } from 'holdfast/shedlock';
import { springRedisStore } from 'holdfast/spring';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, it, test } from 'vitest';
import { slotOf } from '../../../../src/clients/redis/slots.ts';
import { Places } from '../../../../src/stores/redis/places.ts';

/** All texts of these parts, of up to so many. */
function textsOf(parts: readonly string[], most: number): string[] {
  const shorter = most > 1 ? textsOf(parts, most - 1) : [''];
  return [...new Set([...shorter, ...shorter.flatMap((text) => parts.map((part) => text + part))])];
}

const NAMESPACES = textsOf(['a', ':', '.'], 4).filter((text) => /^[a.]+(:[a.]+)*$/.test(text));
const RESOURCES = textsOf(['a', ':', '!', '{', '}', '{a}', '!kept', '!record'], 3).filter(Boolean);

describe.each([false, true])('keys, in a cluster: %s', (cluster) => {
  it('have one reading: namespace, hash tag and name', () => {
    const readings = new Map<string, string>();
    const met: string[] = [];
    const add = (key: string, reading: string): void => {
      const other = readings.get(key) ?? reading;
      if (other !== reading) met.push(`${key}: ${other} and ${reading}`);
      readings.set(key, reading);
    };
    for (const namespace of NAMESPACES) {
      for (const tag of [undefined, 'a', 'record']) {
        const places = new Places(namespace, cluster, tag);
        const store = `${namespace} ${tag}`;
        add(places.own('wake:'), `${store} channels`);
        for (const resource of RESOURCES) {
          const key = places.keyOf(resource);
          if (places.nameOf(key) !== resource) met.push(`${key} is not read as ${resource}`);
          add(key, `${store} queue ${resource}`);
          add(places.keptOf(resource), `${store} kept ${resource}`);
          // Names of one slot have the same.
          const record = places.recordOf(key);
          add(record, `${store} record ${places.many ? slotOf(record) : ''}`);
        }
      }
    }
    expect(met).toEqual([]);
    expect(readings.size).toBeGreaterThan(10_000);
  });

  it('begin with the namespace, and are in one slot where one script needs them', () => {
    for (const tag of [undefined, 'x']) {
      const places = new Places('shop:dev', cluster, tag);
      for (const resource of RESOURCES) {
        const key = places.keyOf(resource);
        const all = [key, places.keptOf(resource), places.recordOf(key)];
        expect(all.filter((each) => !each.startsWith('shop:dev:'))).toEqual([]);
        const slots = new Set(all.map(slotOf));
        if (cluster || tag !== undefined) expect(slots.size, key).toBe(1);
        if (tag !== undefined) expect([...slots]).toEqual([slotOf(tag)]);
      }
    }
  });
});

const single = (): Redis => new Redis({ lazyConnect: true });

test('maxTtl is 10 s where one server has all locks of the store, otherwise 30 s', () => {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
  const stores = [
    redisStore(single()),
    redisStore(single(), { hashTag: 'x' }),
    redisStore(cluster),
    plainRedisStore(single()),
    redisStore(single(), { maxTtl: '1m' }),
  ];
  expect(stores.map(({ maxTtlMs }) => maxTtlMs)).toEqual([10_000, 30_000, 30_000, 30_000, 60_000]);
});

test('a longer ttl is refused before anything is sent, and names the option', async () => {
  await using locks = createLocks(redisStore(single()));
  const message = expect.stringContaining('raise the option maxTtl of the redis');
  const asked = async () => locks.mutex('a', { ttl: '20s' }).acquire();
  await expect(asked).rejects.toMatchObject({ code: 'USAGE', message });
});

/** Registers a test for each of these options. */
function refuses(open: (client: Redis, options: never) => Store, all: readonly object[]): void {
  it.each(all)(`${open.name} refuses %o`, (options) => {
    const opened = () => open(single(), options as never);
    expect(opened).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
}

const LONG = 'x'.repeat(65);
const NAMESPACES_REFUSED = ['', ':', 'a:', ':a', 'a::b', 'a!', 'a{b}', 'a b', LONG];
const TAGS_REFUSED = ['', '{x}', 'a}', 'a:b', LONG];

refuses(redisStore, [
  ...NAMESPACES_REFUSED.map((namespace) => ({ namespace })),
  ...TAGS_REFUSED.map((hashTag) => ({ hashTag })),
]);
refuses(plainRedisStore, [
  ...[{ key: 'a key' }, { retry: 0 }, { retry: 'soon' }, { maxWaiters: 3 }],
  ...[{ namespace: 'a b' }, { hashTag: 'a' }],
]);
refuses(redissonStore, [
  ...[{ key: 'a key' }, { retry: 0 }, { mutex: 'spin' }, { maxWaiters: 3 }],
  { mutex: 'fair', retry: 100 },
]);
refuses(springRedisStore, [
  ...[{}, { registryKey: '' }, { registryKey: 'a b' }, { registryKey: 'a', key: 'b' }],
]);
refuses(shedlockRedisStore, [{ environment: '' }, { keyPrefix: 1 }, { name: 'a' }]);
