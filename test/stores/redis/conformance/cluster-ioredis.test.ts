import { Cluster } from 'ioredis';
import { clustered } from './clusters.ts';
import { suite } from './suite.ts';

suite(
  await clustered(async ({ addresses }) => {
    const client = new Cluster(addresses);
    return { client, end: () => client.disconnect() };
  }),
);
