/** Locks that are shared with the real `RedisLockRegistry`, in both directions. */
import { createLocks } from 'holdfast';
import { springRedisStore } from 'holdfast/spring';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';
import { sleep } from '../../methods/faults/bed.ts';
import { type ForeignCommand, ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { javaDriver } from '../../methods/sharing/java.ts';
import { LIBRARIES } from '../../methods/sharing/libraries.ts';
import { LEASE_MS, pairSuite } from '../../methods/sharing/pair-suite.ts';
import { RedisServer } from '../../servers/redis-server.ts';

/** In which a claim that is to wait has asked, in ms. */
const MOMENT_MS = 300;

const server = await RedisServer.start();
afterAll(() => server.close());

const java = (version: 'old' | 'new', leaseMs: number): Promise<ForeignCommand> =>
  javaDriver('SpringDriver', LIBRARIES[version], server.url, `${leaseMs}`);

describe.each([
  ['Spring Integration 6, spinning', 'spin', 'old'],
  ['Spring Integration 7, told of releases', 'pub-sub', 'new'],
] as const)('%s', (name, kind, version) => {
  pairSuite(name, {
    kind,
    foreign: () => java(version, LEASE_MS),
    own: () => ['spring-redis', server.url, { registryKey: 'locks', afterDataLoss: 'trust' }],
  });
});

test('a release on either side wakes who waits on the other', async () => {
  // Without a message it would sleep for so long.
  await using program = await ForeignProgram.start(await java('new', 60_000));
  const thread = program.thread();
  const client = new Redis(server.url);
  const hour = { retry: '1h', maxTtl: '1h' } as const;
  const registry = { registryKey: 'locks', afterDataLoss: 'trust', ...hour } as const;
  await using locks = createLocks(springRedisStore(client, registry), { ttl: '1h' });
  const mutex = locks.mutex('woken');
  const listening = async (): Promise<number> =>
    String(await client.client('LIST')).split('psub=1').length - 1;

  const lease = await mutex.acquire();
  const before = await listening();
  const theirs = thread.acquire('pub-sub', 'woken');
  await expect.poll(listening).toBeGreaterThan(before);
  await sleep(MOMENT_MS);
  await lease.release();
  expect(await theirs).toBe(true);

  const ours = mutex.acquire();
  await sleep(MOMENT_MS);
  await thread.release('pub-sub', 'woken');
  await (await ours).release();
  client.disconnect();
});
