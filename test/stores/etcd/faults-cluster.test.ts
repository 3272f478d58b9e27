/** Servers of a cluster die, lose each other, and come back, while its locks are in demand. */
import type { Store } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { RESTART_TTL_MS } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { patiently, Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { type EtcdCluster, startEtcdCluster } from '../../servers/etcd-cluster.ts';
import type { EtcdServer } from '../../servers/etcd-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { addressOf, Bed } from './fault-bed.ts';

serversOfTheirOwn();

const RESOURCES = ['a', 'b', 'c'];

class ClusterBed extends Bed {
  async cluster(): Promise<EtcdCluster> {
    return this.serve(await startEtcdCluster());
  }

  /** A scene whose holder and others may use all servers. */
  scene(cluster: EtcdCluster, ttl: number): Promise<Scene<EtcdServer>> {
    const open = async (): Promise<Store> => this.storeAt(addressOf(cluster));
    return Scene.set<object, EtcdServer>(this, { holder: open, others: open, ttl });
  }

  crowd(cluster: EtcdCluster): Crowd {
    const all = Array.from({ length: 4 }, () => {
      // Elections, of which several may be needed, are no reason to die.
      return this.locksOn(this.storeAt(addressOf(cluster)), RESTART_TTL_MS);
    });
    return this.use(new Crowd(all, RESOURCES));
  }
}

describe.concurrent('a cluster', () => {
  test.concurrent('loses leader and follower in turn under load, and goes on', async () => {
    await using bed = new ClusterBed();
    const cluster = await bed.cluster();
    const crowd = bed.crowd(cluster);
    await crowd.goesOn();
    const leader = await cluster.leader();
    await leader.kill();
    await crowd.goesOn();
    await leader.start();
    const [follower] = await cluster.followers();
    await follower?.kill();
    await crowd.goesOn();
    await follower?.start();
    await crowd.goesOn();
    await crowd.expectOrder();
    await bed.leave();
    await bed.expectNothingLeft(await cluster.leader());
  });

  test.concurrent('whose leader dies keeps what is held and who waits', async () => {
    await using bed = new ClusterBed();
    const cluster = await bed.cluster();
    const scene = await bed.scene(cluster, RESTART_TTL_MS);
    await (await cluster.leader()).kill();
    const next = await cluster.leader();
    await scene.renewedSince(performance.now());
    await scene.expectUndisturbed(0);
    await scene.leave(next);
  });

  test.concurrent('without a majority ends what is held, and begins again with it', async () => {
    await using bed = new ClusterBed();
    const cluster = await bed.cluster();
    const scene = await bed.scene(cluster, 2000);
    const [one, two] = cluster.servers;
    await Promise.all([one?.kill(), two?.kill()]);
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    expect(scene.reasons).toEqual(['expired', 'expired']);
    await Promise.all([one?.start(), two?.start()]);
    await scene.expectSucceeded();
    await scene.leave(await cluster.leader());
  });

  test.concurrent('one that is cut off from the others confirms nothing', async () => {
    await using bed = new ClusterBed();
    const cluster = await bed.cluster();
    const [cut] = await cluster.followers();
    if (!cut) throw new Error('there are followers');
    const others = cluster.servers.filter((server) => server !== cut);
    const elsewhere = `etcd://${others.map(({ host, port }) => `${host}:${port}`).join(',')}`;
    // It knows but the one, which still answers it.
    const scene = await Scene.set<object, EtcdServer>(bed, {
      holder: cut,
      others: async () => bed.storeAt(elsewhere),
      ttl: paced(3000),
    });
    await cluster.cutOff(cut);
    await scene.expectSucceeded();
    await cluster.heal();
    await (await patiently(bed.locks(cut).mutex('afterwards'))).release();
    await scene.leave(await cluster.leader());
  });

  test.concurrent('whoever knows another server than the one cut off goes there', async () => {
    await using bed = new ClusterBed();
    const cluster = await bed.cluster();
    const scene = await bed.scene(cluster, RESTART_TTL_MS);
    const leader = await cluster.leader();
    await cluster.cutOff(leader);
    await cluster.leader();
    await scene.renewedSince(performance.now());
    await scene.expectUndisturbed(0);
    await cluster.heal();
    await scene.leave(await cluster.leader());
  });
});
