/** Servers that agree die, lose each other, and come back, while their locks are in demand. */
import type { Store } from 'holdfast';
import { test } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Bed, RESTART_TTL_MS, type StoreOptions } from './bed.ts';
import { Crowd } from './crowd.ts';
import { Scene } from './scene.ts';
import type { Mortal } from './server.ts';

/** Long enough for heartbeats over a follower on a busy machine. */
export const TTL_MS: number = paced(3000);

export interface Cluster<At> {
  readonly servers: readonly At[];
  leader(): Promise<At>;
  followers(): Promise<readonly At[]>;
}

type ClusterBed<At extends Mortal = Mortal> = Bed<StoreOptions, At> & {
  storeOn(servers: readonly At[]): Store;
};

export type Mode = 'leader' | 'follower';

export async function inMode<At>(mode: Mode, cluster: Cluster<At>): Promise<At> {
  const [follower] = await cluster.followers();
  return mode === 'leader' ? cluster.leader() : (follower as At);
}

/** A scene whose holder and others may use all servers. */
export function sceneOn(
  bed: ClusterBed,
  { servers }: Cluster<Mortal>,
  ttl: number,
): Promise<Scene<Mortal>> {
  const open = async (): Promise<Store> => bed.storeOn(servers);
  return Scene.set<object, Mortal>(bed, { holder: open, others: open, ttl });
}

export function crowdOn(bed: ClusterBed, { servers }: Cluster<Mortal>, ttl: number): Crowd {
  const all = Array.from({ length: 4 }, () => bed.locksOn(bed.storeOn(servers), ttl));
  return bed.use(new Crowd(all, ['a', 'b', 'c']));
}

export async function expectNoneLost(
  bed: ClusterBed,
  cluster: Cluster<Mortal>,
  crowd: Crowd,
): Promise<void> {
  await crowd.expectOrder();
  await bed.end(await cluster.leader());
}

/** Both leases are confirmed by a heartbeat that is sent from now on. */
export async function confirmed(scene: Pick<Scene<Mortal>, 'probed' | 'queued'>): Promise<void> {
  for (const { lease } of [scene.probed, scene.queued]) {
    await until('was it confirmed', () => lease.renew().then(() => true));
  }
}

interface Cut<At> {
  readonly cut: At;
  /** Answers what ends it. */
  readonly befall: (server: At) => Promise<() => unknown> | (() => unknown);
}

/** One that knows but a server that is cut off is told that it has lost, and then others get in. */
export async function expectContained<At extends Mortal>(
  bed: ClusterBed<At>,
  cluster: Cluster<At>,
  { cut, befall }: Cut<At>,
): Promise<void> {
  const others = cluster.servers.filter((server) => server !== cut);
  const scene = await Scene.set<object, At>(bed, {
    holder: cut,
    others: async () => bed.storeOn(others),
    ttl: TTL_MS,
  });
  const end = await befall(cut);
  await scene.expectSucceeded();
  await end();
  await (await patiently(bed.locks(cut).mutex('afterwards'))).release();
  await scene.leave(await cluster.leader());
}

export function losses<At extends Mortal>(
  newBed: () => ClusterBed<At>,
  clusterFor: (bed: ClusterBed<At>) => Cluster<At> | Promise<Cluster<At>>,
): void {
  test('loses leader and follower in turn under load, and goes on', async () => {
    await using bed = newBed();
    const cluster = await clusterFor(bed);
    // Elections, of which several may be needed, are no reason to die.
    const crowd = crowdOn(bed, cluster, RESTART_TTL_MS);
    await crowd.goesOn();
    for (const mode of ['leader', 'follower'] as const) {
      const server = await inMode(mode, cluster);
      await server.kill();
      await crowd.goesOn();
      await server.start();
    }
    await crowd.goesOn();
    await expectNoneLost(bed, cluster, crowd);
  });

  test('whose leader dies keeps what is held and who waits', async () => {
    await using bed = newBed();
    const cluster = await clusterFor(bed);
    const scene = await sceneOn(bed, cluster, RESTART_TTL_MS);
    await (await cluster.leader()).kill();
    await confirmed(scene);
    await scene.expectUndisturbed(0);
    await scene.leave(await cluster.leader());
  });

  test('without a majority ends what is held, and begins again with it', async () => {
    await using bed = newBed();
    const cluster = await clusterFor(bed);
    const scene = await sceneOn(bed, cluster, TTL_MS);
    const [one, two] = cluster.servers;
    await Promise.all([one?.kill(), two?.kill()]);
    await scene.expectExpired();
    await Promise.all([one?.start(), two?.start()]);
    await scene.expectSucceeded();
    await scene.leave(await cluster.leader());
  });
}
