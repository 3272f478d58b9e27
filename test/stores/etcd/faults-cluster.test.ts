/** Servers of a cluster die, lose each other, and come back, while its locks are in demand. */
import { describe, test } from 'vitest';
import { RESTART_TTL_MS } from '../../methods/faults/bed.ts';
import { confirmed, expectContained, losses, sceneOn } from '../../methods/faults/cluster.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { type EtcdCluster, startEtcdCluster } from '../../servers/etcd-cluster.ts';
import type { EtcdServer } from '../../servers/etcd-server.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

async function clusterFor(bed: Pick<Bed, 'serve'>): Promise<EtcdCluster> {
  return bed.serve(await startEtcdCluster());
}

describe.concurrent('a cluster', () => {
  losses(() => new Bed(), clusterFor);

  test.concurrent('one that is cut off from the others confirms nothing', async () => {
    await using bed = new Bed();
    const cluster = await clusterFor(bed);
    const [cut] = await cluster.followers();
    // It knows but the one, which still answers it.
    await expectContained<EtcdServer>(bed, cluster, {
      cut: cut as EtcdServer,
      befall: async (server) => {
        await cluster.cutOff(server);
        return () => cluster.heal();
      },
    });
  });

  test.concurrent('whoever knows another server than the one cut off goes there', async () => {
    await using bed = new Bed();
    const cluster = await clusterFor(bed);
    const scene = await sceneOn(bed, cluster, RESTART_TTL_MS);
    const leader = await cluster.leader();
    await cluster.cutOff(leader);
    await cluster.leader();
    await confirmed(scene);
    await scene.expectUndisturbed(0);
    await cluster.heal();
    await scene.leave(await cluster.leader());
  });
});
