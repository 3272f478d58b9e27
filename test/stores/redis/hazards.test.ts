/** Each server that may grant is looked at before it does, wherever a cluster leads to. */
import { redisStore } from 'holdfast/redis';
import { describe, expect } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { claimOf, inBeds, onServer } from '../../methods/faults/bed.ts';
import { startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { LATEST } from './packages.ts';

const inBed = inBeds(() => new Bed());
const onOwn = onServer(() => new Bed());

const keySlot = (resource: string): number => slotOf(`holdfast::${resource}`);

/** A name of a lock on each of the three primaries. */
function nameOn(nth: number): string {
  for (let i = 0; ; i++)
    if (Math.floor((keySlot(`lock ${i}`) * 3) / 16_384) === nth) return `lock ${i}`;
}

async function evict(server: RedisServer | undefined): Promise<void> {
  await server?.command('CONFIG', 'SET', 'maxmemory', '100mb');
  await server?.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
}

describe.each(LATEST)('$name: a store that refuses hazards', (its) => {
  /** A cluster where another store has been, so that the scripts are known on every server. */
  async function careful(bed: Bed) {
    // Nothing fails by itself here, however busy the machine is.
    const cluster = bed.serve(await startCluster({ downAfterMs: 20_000 }));
    const open = (onHazard: 'warn' | 'refuse') =>
      bed.use(redisStore(its.cluster(cluster.addresses), { afterDataLoss: 'trust', onHazard }));
    const other = open('warn');
    for (const nth of [0, 1, 2]) await other.inspect(nameOn(nth));
    const store = open('refuse');
    const claim = async (nth: number): Promise<string> =>
      store.claim([claimOf(nameOn(nth))]).then(
        ([status]) => status?.state ?? 'nothing',
        ({ message }: Error) => /\((HOLDFAST_\w+)\)/.exec(message)?.[1] ?? message,
      );
    return { cluster, claim };
  }

  inBed('is granted nothing by the one primary that evicts', async (bed) => {
    // The store has not been there yet.
    const { cluster, claim } = await careful(bed);
    await evict(cluster.nodes[1]);
    expect([await claim(0), await claim(1), await claim(2)]).toEqual([
      ...['held', 'HOLDFAST_EVICTION', 'held'],
    ]);
    expect(await cluster.nodes[1]?.command('EXISTS', `holdfast::${nameOn(1)}`)).toBe(0);
  });

  inBed('is granted nothing by one that a fail-over or a slot leads to', async (bed) => {
    const { cluster, claim } = await careful(bed);
    const [first, second] = cluster.nodes;
    expect(await claim(0)).toBe('held');
    // As if it had come back with another configuration; the store knows nothing of it yet.
    await evict(second);
    await cluster.migrate({ slot: keySlot(nameOn(2)), to: second! });
    expect(await claim(2)).toBe('HOLDFAST_EVICTION');
    await evict(await cluster.failOver(first!));
    expect(await claim(0)).toBe('HOLDFAST_EVICTION');
  });

  inBed('waits for no look at another server', async (bed) => {
    const { cluster, claim } = await careful(bed);
    // The cluster is found by now.
    expect(await claim(0)).toBe('held');
    const silent = cluster.nodes[2]!;
    silent.pause();
    const order: string[] = [];
    const both = [2, 1].map((nth) => claim(nth).then((state) => order.push(`${nth}: ${state}`)));
    await both[1];
    expect(order).toEqual(['1: held']);
    silent.resume();
    await both[0];
  });
});

onOwn('a connection that is made anew looks anew', async (bed, server) => {
  const store = bed.store(server, { onHazard: 'refuse' });
  expect(await store.claim([claimOf('a')])).toMatchObject([{ state: 'held' }]);
  await evict(server);
  await server.command('CLIENT', 'KILL', 'TYPE', 'normal');
  // The store hears of the closed connection a moment later.
  await until('was it refused', () =>
    store.claim([claimOf('b')]).then(
      () => false,
      ({ message }: Error) => message.includes('HOLDFAST_EVICTION'),
    ),
  );
  await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  expect(await store.claim([claimOf('b')])).toMatchObject([{ state: 'held' }]);
});
