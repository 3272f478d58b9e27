/** Slots of a cluster move, and its primaries die, while its locks are in demand. */
import type { Locks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { describe, expect, test } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { MAX_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { Belief, firstGrant } from '../../methods/faults/scene.ts';
import { type Cluster, startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { Bed, type StoreOptions, settle } from './bed.ts';
import { LATEST, packages } from './packages.ts';

/** Keys of names are in slots of all three primaries. */
const RESOURCES = ['a', 'b', 'c', 'd', 'e', 'f'];

const keySlot = (resource: string): number => slotOf(`holdfast::${resource}`);

async function started(bed: Bed): Promise<Cluster> {
  const cluster = bed.serve(await startCluster());
  const primaries = await Promise.all(RESOURCES.map((name) => cluster.primaryOf(keySlot(name))));
  expect(new Set(primaries).size).toBe(3);
  // Nothing was lost here, for the servers have just been set up.
  const [open] = openers(bed, cluster);
  const store = open!();
  for (const name of RESOURCES) await store.inspect(name);
  await store.close?.();
  await settle(...cluster.nodes.slice(0, 3));
  return cluster;
}

/** Stores on a cluster, of a client of each package in turn. */
function openers(bed: Bed, { addresses }: Cluster) {
  return packages.map((each) => (options: StoreOptions = {}) => {
    return bed.use(redisStore(each.cluster(addresses), { maxTtl: MAX_TTL_MS, ...options }));
  });
}

async function crowded(bed: Bed, cluster: Cluster): Promise<Crowd> {
  const all = openers(bed, cluster).map((open) => bed.locksOn(open()));
  const crowd = bed.use(new Crowd(all, RESOURCES));
  await crowd.goesOn();
  return crowd;
}

describe('a cluster under load', () => {
  test.concurrent('a slot moves: nobody is granted what is held, all get on', async () => {
    await using bed = new Bed();
    const cluster = await started(bed);
    const crowd = await crowded(bed, cluster);
    // Its locks wait for half a minute at their new place.
    await cluster.migrate({ slot: keySlot('a'), halfway: () => sleep(200) });
    await crowd.goesOn();
    await crowd.expectOrder();
  });

  test.concurrent('primaries die and step down: nobody is granted what is held', async () => {
    await using bed = new Bed();
    const cluster = await started(bed);
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

describe.each(LATEST)('$name: a lease', (each) => {
  const LONG_TTL_MS = paced(4000);

  test.concurrent('goes on while its slot moves', async () => {
    await using bed = new Bed();
    const cluster = await started(bed);
    const options = { maxTtl: LONG_TTL_MS, afterDataLoss: 'trust' } as const;
    const open = () => bed.use(redisStore(each.cluster(cluster.addresses), options));
    const lease = await patiently(bed.locksOn(open(), LONG_TTL_MS).mutex('a'));
    await cluster.migrate({ slot: keySlot('a') });
    // Longer than a TTL: without heartbeats at its new place it would be dead.
    await sleep(LONG_TTL_MS * 1.1);
    expect(lease.state).toBe('held');
    const { holders } = await open().inspect('a');
    expect(holders.map(({ number }) => number * 1024n)).toEqual([lease.token]);
    await lease.release();
  });

  test.concurrent('ends before another begins, when its primary dies', async () => {
    await using bed = new Bed();
    const cluster = await started(bed);
    const open = () => bed.use(redisStore(each.cluster(cluster.addresses), { maxTtl: MAX_TTL_MS }));
    const belief = bed.use(new Belief(await patiently(bed.locksOn(open()).mutex('a'))));
    const prober = open();
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
  test.concurrent('the leases elsewhere are kept, and claims there answered', async () => {
    await using bed = new Bed();
    // Nobody is promoted, and the others go on: that takes longer than this test.
    const cluster = bed.serve(await startCluster({ downAfterMs: 60_000 }));
    const each = packages.find(({ name }) => name === packed)!;
    const options = { maxTtl: FATE_TTL_MS, afterDataLoss: 'trust' } as const;
    const store = bed.use(redisStore(each.cluster(cluster.addresses), options));
    const locks = bed.locksOn(store, FATE_TTL_MS);
    const leases = await Promise.all(RESOURCES.map((name) => locks.mutex(name).acquire()));
    const slot = keySlot('a');
    const victim = await cluster.primaryOf(slot);
    const there = await Promise.all(
      RESOURCES.map(async (name) => (await cluster.primaryOf(keySlot(name))) === victim),
    );
    const kept = leases.filter((_lease, i) => !there[i]);
    const free = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const name = `free ${i}`;
        return (await cluster.primaryOf(keySlot(name))) === victim ? [] : [name];
      }),
    ).then((names) => names.flat());
    const before = await pace(locks, free);
    await strike({ cluster, victim, slot });
    // With another ttl it is a claim of its own, which goes on asking for what is away.
    const aborter = new AbortController();
    bed.use({ close: () => aborter.abort() });
    const { signal } = aborter;
    void locks
      .mutex('a', { ttl: FATE_TTL_MS - 1000 })
      .acquire({ signal })
      .catch(() => {});
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
