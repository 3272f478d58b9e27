import { Cluster } from 'ioredis';
import { afterAll } from 'vitest';
import { startCluster } from '../../servers/cluster.ts';
import { plainSuite } from './plain-suite.ts';

const cluster = await startCluster();
const client = new Cluster(cluster.addresses);
afterAll(async () => {
  client.disconnect();
  await cluster.close();
});

plainSuite(client);
