/** The fence in a cluster: where it is kept, and what moves under it. */
import type { RedisFenceOptions } from 'holdfast/fence';
import { afterAll, describe, expect, test } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { startCluster } from '../../servers/cluster.ts';
import { until } from '../../support/until.ts';
import { type FenceOn, fenceOn, get, set } from './bed.ts';
import { type Package, packages } from './packages.ts';

const cluster = await startCluster();
afterAll(() => cluster.close());

const at = (resource: string) => ({ resource, lineage: 'one', token: 1n });

function fenceOf(its: Package, options: RedisFenceOptions = {}): FenceOn {
  return fenceOn(its.cluster(cluster.addresses), options);
}

describe.each(packages)('$name', (its) => {
  test.each([
    ['stock:7', 'stock:7'],
    ['stock:7', '{stock:7}:left'],
    ['shop:{7}', 'left:{7}'],
    ['a}b', 'a}b'],
    ['{}a', '{}a'],
  ])('the fence of %s is kept with %s', async (resource, key) => {
    const fence = fenceOf(its);
    expect(slotOf(fence.keyOf(resource))).toBe(slotOf(key));
    const entry = await fence.enter(at(resource));
    await set(entry, key, its.name);
    expect(await get(entry, key)).toBe(its.name);
    expect(await entry.write([])).toEqual([]);
  });

  test('data elsewhere is refused unsent, until the fence is told its tag', async () => {
    const entry = await fenceOf(its).enter(at('shop:stock:8'));
    const refused = {
      code: 'USAGE',
      message: expect.stringMatching(/another slot.*option 'tag'/s),
    };
    await expect(set(entry, 'stock:8', 1)).rejects.toMatchObject(refused);
    await expect(entry.eval('return 1', { keys: ['stock:8'] })).rejects.toMatchObject(refused);
    const tag = (resource: string): string => resource.slice('shop:'.length);
    const fence = fenceOf(its, { tag, prefix: 'f:' });
    expect(fence.keyOf('shop:stock:8')).toBe('f:{stock:8}shop:stock:8');
    await set(await fence.enter(at('shop:stock:8')), 'stock:8', 1);
    const reader = await fence.enter({ ...at('shop:stock:8'), kind: 'read' });
    expect(await get(reader, 'stock:8')).toBe('1');
  });

  test('an entry goes on while its slot is handed over, and stays with its data', async () => {
    const fence = fenceOf(its);
    const name = `moved ${its.name}`;
    const older = await fence.enter(at(name));
    await set(older, name, 'old');
    const entry = await fence.enter({ ...at(name), token: 2n });
    const to = await cluster.migrate({ slot: slotOf(name) });
    // It may take more than one try until the client has heard of it.
    await until('wrote', async () => {
      await set(entry, name, 'new');
      return true;
    });
    expect(await to.command('GET', name)).toBe('new');
    await expect(set(older, name, 'late')).rejects.toMatchObject({ code: 'STALE_TOKEN', seen: 2n });
  });
});
