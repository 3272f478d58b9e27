import { Cluster as Client } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Cluster, startCluster } from './cluster.ts';
import { missing, type ProgramName } from './programs.ts';

const PROGRAMS: readonly ProgramName[] = ['redis', 'redis-8', 'valkey'];
/** The slot of the tag `{a}`. */
const SLOT = 15_495;

describe.for(PROGRAMS)('a cluster on %s', (program) => {
  beforeEach(async ({ skip }) => {
    const reason = await missing(program);
    skip(reason !== undefined, reason);
  });

  async function start(): Promise<{ cluster: Cluster; client: Client }> {
    const cluster = await startCluster({ program });
    onTestFinished(() => cluster.close());
    const client = new Client(cluster.addresses);
    onTestFinished(() => client.disconnect());
    return { cluster, client };
  }

  it('serves all slots', async () => {
    const { cluster, client } = await start();
    const keys = Array.from({ length: 60 }, (_, n) => `k${n}`);
    for (const key of keys) expect(await client.set(key, key)).toBe('OK');
    const sizes = await Promise.all(cluster.nodes.map((node) => node.command('DBSIZE')));
    const [first = 0, second = 0, third = 0] = sizes as number[];
    expect(first + second + third).toBe(keys.length);
    expect(Math.min(first, second, third)).toBeGreaterThan(0);
    expect((await cluster.primaryOf(SLOT)).port).toBe(cluster.nodes[2]?.port);
  });

  it('fails over in good order and after a crash, there and back', async () => {
    const { cluster, client } = await start();
    const first = await cluster.primaryOf(SLOT);
    await client.incr('{a}');
    const second = await cluster.failOver(first);
    expect(await cluster.primaryOf(SLOT)).toBe(second);
    expect(await client.incr('{a}')).toBe(2);
    await second.kill();
    expect(await cluster.promoted(second)).toBe(first);
    expect(await client.incr('{a}')).toBe(3);
    await second.start();
    await cluster.settled();
    expect((await second.command('ROLE')) as unknown[]).toContain('slave');
  });

  it('moves a slot while a client goes on', async () => {
    const { cluster, client } = await start();
    const from = await cluster.primaryOf(SLOT);
    const to = await cluster.primaryOf(0);
    const keys = Array.from({ length: 250 }, (_, n) => `{a}${n}`);
    for (const key of keys) await client.incr(key);
    await cluster.migrate({
      slot: SLOT,
      to,
      halfway: async () => {
        expect(await client.incr('{a}0')).toBe(2);
        expect(await client.incr('{a}new')).toBe(1);
        await expect(from.command('GET', '{a}other')).rejects.toThrow(/ASK/);
      },
    });
    await expect(from.command('GET', '{a}0')).rejects.toThrow(/MOVED/);
    expect(await to.command('CLUSTER', 'COUNTKEYSINSLOT', SLOT)).toBe(keys.length + 1);
    expect(await client.incr('{a}0')).toBe(3);
    expect(await client.incr('{a}new')).toBe(2);
  });
});
