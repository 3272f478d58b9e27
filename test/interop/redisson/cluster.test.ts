/** Redisson in a cluster, where it sends its messages on the channels of a slot. */
import { createLocks, type Locks } from 'holdfast';
import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { startCluster } from '../../servers/cluster.ts';
import { LATEST } from '../../stores/redis/packages.ts';
import { channelOf, NEW, programAt } from './bed.ts';
import { OPTIONS, optionsOf } from './open.ts';

/** Its heartbeats come after the end of a test, in ms. */
const LONG = 120_000;

let cluster: Awaited<ReturnType<typeof startCluster>>;
let java: ForeignProgram;
beforeAll(async () => {
  cluster = await startCluster({ downAfterMs: 20_000, replicas: false });
  java = await ForeignProgram.start(await programAt(cluster.nodes[0]!.url, NEW, 'cluster'));
});
afterAll(async () => {
  await java.close();
  await cluster.close();
});

describe.each(LATEST)('with $name', ({ name, cluster: connect }) => {
  const locksWith = (options: RedissonOptions): Locks =>
    createLocks(redissonStore(connect(cluster.addresses), options));

  it.each(['mutex', 'fair', 'write', 'permit'])('as %s each wakes the other', async (kind) => {
    await using locks = locksWith(kind === 'fair' ? optionsOf(kind) : OPTIONS);
    const lock = `${kind} ${name}`;
    const ours = {
      mutex: locks.mutex(lock, { ttl: LONG }),
      fair: locks.mutex(lock, { ttl: LONG }),
      write: locks.rwLock(lock, { ttl: LONG }).write,
      permit: locks.semaphore(lock, { ttl: LONG, limit: 1 }),
    }[kind]!;
    const theirs = java.thread();
    if (kind === 'permit') await theirs.ask('set-permits', lock, '1');
    expect(await theirs.acquire(kind, lock, { lease: LONG })).toBe(true);
    expect(await ours.tryAcquire()).toBeNull();
    const wait = ours.acquire();
    await expect.poll(() => listeners(kind, lock)).toBe(1);
    await theirs.release(kind, lock);
    const lease = await wait;
    const second = theirs.acquire(kind, lock, { lease: LONG });
    await expect.poll(() => listeners(kind, lock)).toBe(2);
    await lease.release();
    expect(await second).toBe(true);
    await theirs.release(kind, lock);
  });

  it('a slot that moves takes its listeners along', async () => {
    await using locks = locksWith({ ...OPTIONS, retry: '200ms' });
    const lock = `moved ${name}`;
    const theirs = java.thread();
    await theirs.acquire('mutex', lock, { lease: LONG });
    const wait = locks.mutex(lock, { ttl: LONG }).acquire();
    await expect.poll(() => listeners('mutex', lock)).toBe(1);
    const to = await cluster.migrate({ slot: slotOf(lock) });
    const listening = () => to.command('PUBSUB', 'SHARDNUMSUB', channelOf('mutex', lock));
    await expect.poll(listening).toEqual([channelOf('mutex', lock), 1]);
    await theirs.release('mutex', lock);
    await (await wait).release();
  });

  it('a brace that is not closed is refused unsent', async () => {
    await using locks = locksWith(OPTIONS);
    await expect(locks.mutex('a{b').acquire()).rejects.toThrow(/must be closed/);
  });
});

/** How many listen to the sharded channel of a lock, on whichever server has it. */
async function listeners(kind: string, name: string): Promise<number> {
  const channel = channelOf(kind, name);
  const [verb, asked] =
    kind === 'fair' ? ['SHARDCHANNELS', `${channel}:*`] : ['SHARDNUMSUB', channel];
  const counts = await Promise.all(
    cluster.nodes.map(async (node) => {
      const told = (await node.command('PUBSUB', verb!, asked!)) as unknown[];
      return kind === 'fair' ? told.length : Number(told[1]);
    }),
  );
  return Math.max(...counts);
}
