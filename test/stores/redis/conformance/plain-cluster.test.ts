import { Cluster } from 'ioredis';
import { clustered } from './clusters.ts';
import { plainSuite } from './plain-suite.ts';

plainSuite(
  await clustered(async ({ addresses }) => {
    const client = new Cluster(addresses);
    return { client, end: () => client.disconnect() };
  }),
);
