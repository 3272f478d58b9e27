/** Slots of a cluster move, and its primaries die, while its locks are in demand. */
import type { Lease, Locks, Store } from 'holdfast';
import { type RedisOptions, redisStore } from 'holdfast/redis';
import { describe, expect } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { inBeds, MAX_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { Belief, firstGrant } from '../../methods/faults/scene.ts';
import { type Cluster, startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { Bed, settle } from './bed.ts';
import { LATEST, type Package, packages } from './packages.ts';

/** Keys of names are in slots of all three primaries. */
const RESOURCES = ['a', 'b', 'c', 'd', 'e', 'f'];

const keySlot = (resource: string): number => slotOf(`holdfast::${resource}`);

const inBed = inBeds(() => new Bed());

/** Registers a test on a cluster that has nothing to lose. */
function onCluster(title: string, act: (bed: Bed, cluster: Cluster) => Promise<void>): void {
  inBed(title, async (bed) => {
    const cluster = bed.serve(await startCluster());
    const primaries = await Promise.all(RESOURCES.map((name) => cluster.primaryOf(keySlot(name))));
    expect(new Set(primaries).size).toBe(3);
    // Nothing was lost here, for the servers have just been set up.
    const store = open(bed, cluster, LATEST[0]!);
    for (const name of RESOURCES) await store.inspect(name);
    await store.close?.();
    await settle(...cluster.nodes.slice(0, 3));
    await act(bed, cluster);
  });
}

function open(bed: Bed, { addresses }: Cluster, its: Package, options?: RedisOptions): Store {
  return bed.use(redisStore(its.cluster(addresses), { maxTtl: MAX_TTL_MS, ...options }));
}

async function crowded(bed: Bed, cluster: Cluster): Promise<Crowd> {
  const all = packages.map((its) => bed.locksOn(open(bed, cluster, its)));
  const crowd = bed.use(new Crowd(all, RESOURCES));
  await crowd.goesOn();
  return crowd;
}

describe('a cluster under load', () => {
  onCluster('a slot moves: nobody is granted what is held, all get on', async (bed, cluster) => {
    const crowd = await crowded(bed, cluster);
    // Its locks wait for half a minute at their new place.
    await cluster.migrate({ slot: keySlot('a'), halfway: () => sleep(200) });
    await crowd.goesOn();
    await crowd.expectOrder();
  });

  onCluster('primaries die and step down: nobody is granted what is held', async (bed, cluster) => {
    const crowd = await crowded(bed, cluster);
    const [first, second] = cluster.nodes;
    await first!.kill();
    await cluster.promoted(first!);
    await crowd.goesOn();
    await cluster.failOver(second!);
    await crowd.goesOn();
    await crowd.expectOrder();
  });
});

describe.each(LATEST)('$name: a lease', (its) => {
  const LONG_TTL_MS = paced(4000);

  onCluster('goes on while its slot moves', async (bed, cluster) => {
    const options = { maxTtl: LONG_TTL_MS, afterDataLoss: 'trust' } as const;
    const store = open(bed, cluster, its, options);
    const lease = await patiently(bed.locksOn(store, LONG_TTL_MS).mutex('a'));
    await cluster.migrate({ slot: keySlot('a') });
    // Longer than a TTL: without heartbeats at its new place it would be dead.
    await sleep(LONG_TTL_MS * 1.1);
    expect(lease.state).toBe('held');
    const { holders } = await open(bed, cluster, its, options).inspect('a');
    expect(holders.map(({ number }) => number * 1024n)).toEqual([lease.token]);
    await lease.release();
  });

  onCluster('ends before another begins, when its primary dies', async (bed, cluster) => {
    const locks = bed.locksOn(open(bed, cluster, its));
    const belief = bed.use(new Belief(await patiently(locks.mutex('a'))));
    const prober = open(bed, cluster, its);
    await prober.inspect('a');
    await (await cluster.primaryOf(keySlot('a'))).kill();
    belief.expectBefore(await firstGrant(prober, 'a'));
  });
});

/** Three heartbeats fit, and a tenth of it is long, also on a busy machine. */
const FATE_TTL_MS = paced(4000);

type Fate = { readonly cluster: Cluster; readonly victim: RedisServer; readonly slot: number };

const FATES: readonly [what: string, packed: string, strike: (fate: Fate) => unknown][] = [
  ['a primary is killed', 'node-redis 6', ({ victim }) => victim.kill()],
  ['a primary stands still', 'ioredis 6', ({ victim }) => victim.pause()],
  ['a slot is half-way, with its record moved and its queue not', 'ioredis 6', moveRecord],
];

async function moveRecord({ cluster, victim, slot }: Fate): Promise<void> {
  const { to } = await cluster.announce({ slot });
  const keys = (await victim.command('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
  const records = keys.filter((key) => key.includes('!record'));
  expect(records).toHaveLength(1);
  await victim.command('MIGRATE', to.host, to.port, '', 0, 5_000, 'KEYS', ...records);
}

describe.each(FATES)('%s, with %s', (_, packed, strike) => {
  inBed('the leases elsewhere are kept, and claims there answered', async (bed) => {
    // Nobody is promoted, and the others go on: that takes longer than this test.
    const cluster = bed.serve(await startCluster({ downAfterMs: 60_000 }));
    const its = packages.find(({ name }) => name === packed)!;
    const options = { maxTtl: FATE_TTL_MS, afterDataLoss: 'trust' } as const;
    const locks = bed.locksOn(open(bed, cluster, its, options), FATE_TTL_MS);
    const leases = await Promise.all(RESOURCES.map((name) => locks.mutex(name).acquire()));
    const slot = keySlot('a');
    const victim = await cluster.primaryOf(slot);
    const elsewhere = async (name: string): Promise<boolean> =>
      (await cluster.primaryOf(keySlot(name))) !== victim;
    const kept: Lease[] = [];
    for (const lease of leases) if (await elsewhere(lease.resource)) kept.push(lease);
    const free: string[] = [];
    for (let i = 0; i < 60; i++) if (await elsewhere(`free ${i}`)) free.push(`free ${i}`);
    const before = await pace(locks, free);
    await strike({ cluster, victim, slot });
    // With another ttl it is a claim of its own, which goes on asking for what is away.
    const asking = new AbortController();
    bed.use({ close: () => asking.abort() });
    const other = locks.mutex('a', { ttl: FATE_TTL_MS - 1000 });
    other.acquire({ signal: asking.signal }).catch(() => {});
    const from = performance.now();
    const during: number[] = [];
    // For longer than a lease lives without a heartbeat.
    while (performance.now() < from + 1.2 * FATE_TTL_MS) during.push(await pace(locks, free));
    expect(leases[0]?.held).toBe(false);
    expect(kept.map(({ state }) => state)).toEqual(kept.map(() => 'held'));
    // What waits for the server that is away takes a hundred times as long.
    expect(during.reduce((sum, each) => sum + each) / during.length).toBeLessThan(10 * before);
  });
});

/** How long it takes to take and give back one of these, in ms on the average. */
async function pace(locks: Locks, names: readonly string[]): Promise<number> {
  const from = performance.now();
  for (const name of names) await locks.mutex(name).run(() => {});
  return (performance.now() - from) / names.length;
}
