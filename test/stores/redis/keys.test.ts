/** All keys under one hash tag, and programs of one namespace that have different keys. */
import { createLocks, type Locks, type Store } from 'holdfast';
import { once } from 'holdfast/once';
import { type RedisOptions, redisStore } from 'holdfast/redis';
import { Cluster as ClusterClient, Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { claimOf, hasWaiter, inBeds } from '../../methods/faults/bed.ts';
import { startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';

const inBed = inBeds(() => new Bed());

const TRUST = { afterDataLoss: 'trust' } as const;

const REFUSED = { code: 'STORE', retryable: false, outcome: 'failed' };

function on(bed: Bed, { host, port }: RedisServer, options: RedisOptions): Store {
  return bed.use(redisStore(new Redis({ host, port, lazyConnect: true }), options));
}

async function claimed(store: Store): Promise<string> {
  const [status] = await store.claim([claimOf('a')]);
  return status?.state ?? 'nothing';
}

inBed('a hash tag makes one connection do in a cluster, whatever the names', async (bed) => {
  const cluster = bed.serve(await startCluster());
  const whole = await cluster.primaryOf(slotOf('holdfast:!record'));
  let tag = 0;
  while ((await cluster.primaryOf(slotOf(`${tag}`))) !== whole) tag++;
  const options = { ...TRUST, hashTag: `${tag}` };
  const open = (): Locks => createLocks(on(bed, whole, options));
  const [locks, others] = [open(), open()];
  for (const name of ['a', 'b{c}', 'd}']) {
    const lease = await locks.mutex(name).acquire();
    const next = others.mutex(name).acquire();
    await hasWaiter(locks, name);
    await lease.release();
    await (await next).release();
  }
  expect((await once(locks, 'job', { keepFor: '1m' }, () => 1)).state).toBe('ran');
  const keys = (await whole.command('KEYS', '*')) as string[];
  const beside = keys.filter((key) => !key.startsWith(`holdfast:{${tag}}`));
  expect(beside).toEqual(['holdfast:!record']);
  for (const each of [locks, others]) await each.close();
  // A cluster client has the same keys.
  const member = new ClusterClient(cluster.addresses, { lazyConnect: true });
  expect(await claimed(bed.use(redisStore(member, options)))).toBe('held');
});

describe('programs with different keys', () => {
  test.concurrent.each<[string, RedisOptions, RedisOptions]>([
    ['none, and one', {}, { hashTag: 'x' }],
    ['one, and none', { hashTag: 'x' }, {}],
    ['two', { hashTag: 'x' }, { hashTag: 'y' }],
  ])('hash tags, %s: the second is refused', async (_, first, second) => {
    await using bed = new Bed();
    const server = await bed.server();
    await server.command('DEL', 'holdfast:!record');
    expect(await claimed(on(bed, server, { ...TRUST, ...first }))).toBe('held');
    const late = on(bed, server, { ...TRUST, ...second });
    const message = expect.stringMatching(/hash ?tag.*other namespaces/is);
    await expect(claimed(late)).rejects.toMatchObject({ ...REFUSED, message });
    const other = on(bed, server, { ...TRUST, ...second, namespace: 'another' });
    expect(await claimed(other)).toBe('held');
  });

  inBed('in a cluster that is flushed: they still refuse each other', async (bed) => {
    const cluster = bed.serve(await startCluster({ replicas: false }));
    const open = (options: RedisOptions): Store =>
      bed.use(redisStore(new ClusterClient(cluster.addresses, { lazyConnect: true }), options));
    const [tagged, untagged] = [open({ hashTag: 'x' }), open({})];
    await tagged.inspect('a');
    await expect(claimed(untagged)).rejects.toMatchObject(REFUSED);
    for (const node of cluster.nodes) await node.command('FLUSHALL');
    // The one that was refused comes first; it waits, as after any loss.
    expect(await claimed(untagged)).toBe('waiting');
    expect((await untagged.inspect('a')).quarantineMs).toBeGreaterThan(20_000);
    // The other notices within ten seconds, in which it waits as well.
    const [waits, states] = [claimOf('a'), new Set<string | undefined>()];
    let refusal: unknown;
    await until('was it refused', async () => {
      try {
        const [status] = await tagged.claim([waits]);
        states.add(status?.state);
      } catch (error) {
        refusal = error;
      }
      return refusal !== undefined || states.has('held');
    });
    expect(refusal).toMatchObject(REFUSED);
    expect([...states]).toEqual(['waiting']);
  });
});
