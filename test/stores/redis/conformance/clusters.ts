import { Cluster as IoredisCluster } from 'ioredis';
import { type Cluster, startCluster } from '../../../servers/cluster.ts';
import { paced } from '../../../support/this-run.ts';
import type { Connected, Place } from './suite.ts';

/** Nothing fails by itself here, however busy the machine is. */
const CALM = { downAfterMs: 20_000 };

/** A third of it is what six servers on two cores have for a reply. */
const SHORT_MS = paced(1000);

export async function ioredisCluster({ addresses }: Cluster): Promise<Connected> {
  const client = new IoredisCluster(addresses);
  return { client, end: () => client.disconnect() };
}

/**
 * A cluster, and a client to it that `close` ends. What follows a loss of its data takes 30 s at
 * least, so only the tests of its slots have that.
 */
export async function clustered(connect: (cluster: Cluster) => Promise<Connected>): Promise<Place> {
  const cluster = await startCluster(CALM);
  const { client, end } = await connect(cluster);
  return {
    ...{ client, shortMs: SHORT_MS },
    async close() {
      await end();
      await cluster.close();
    },
  };
}
