import { Cluster as IoredisCluster } from 'ioredis';
import { type Cluster, startCluster } from '../../../servers/cluster.ts';
import { paced } from '../../../support/this-run.ts';
import { end } from '../packages.ts';
import type { Connect, Place } from './suite.ts';

/** Nothing fails by itself here, however busy the machine is. */
const CALM = { downAfterMs: 20_000 };

/** A third of it is what six servers on two cores have for a reply. */
const SHORT_MS = paced(1000);

export const ioredisCluster: Connect<Cluster> = async ({ addresses }) =>
  new IoredisCluster(addresses);

/**
 * A cluster, and a client to it that `close` ends. What follows a loss of its data takes 30 s at
 * least, so only the tests of its slots have that.
 */
export async function clustered(connect: Connect<Cluster>): Promise<Place> {
  const cluster = await startCluster(CALM);
  const client = await connect(cluster);
  return {
    ...{ client, shortMs: SHORT_MS },
    async close() {
      await end(client);
      await cluster.close();
    },
  };
}
