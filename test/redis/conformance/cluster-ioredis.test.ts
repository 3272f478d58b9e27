import { Cluster } from 'ioredis';
import { startCluster } from '../../servers/cluster.ts';
import { suite } from './suite.ts';

const cluster = await startCluster({ downAfterMs: 20_000 });
const client = new Cluster(cluster.addresses);

suite({
  client,
  async close() {
    client.disconnect();
    await cluster.close();
  },
});
