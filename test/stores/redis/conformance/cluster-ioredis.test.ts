import { Cluster } from 'ioredis';
import { clustered } from './clusters.ts';
import { redisSuite } from './suite.ts';

redisSuite(
  await clustered(async ({ addresses }) => {
    const client = new Cluster(addresses);
    return { client, end: () => client.disconnect() };
  }),
);
