import { createCluster } from 'redis';
import { startCluster } from '../../servers/cluster.ts';
import { suite } from './suite.ts';

const cluster = await startCluster({ downAfterMs: 20_000 });
const rootNodes = cluster.addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
const client = await createCluster({ rootNodes }).connect();

suite({
  client,
  async close() {
    client.destroy();
    await cluster.close();
  },
});
