import { createCluster } from 'redis';
import { clustered } from './clusters.ts';
import { suite } from './suite.ts';

suite(
  await clustered(async ({ addresses }) => {
    const rootNodes = addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
    const client = await createCluster({ rootNodes }).connect();
    return { client, end: () => client.destroy() };
  }),
);
