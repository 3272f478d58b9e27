import { createCluster } from 'redis';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { clustered } from './clusters.ts';
import { redisSuite } from './suite.ts';

redisSuite(
  await clustered(async ({ addresses }) => {
    const rootNodes = addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
    const client = createCluster({ rootNodes });
    // A node that is slow to answer is no end of this process.
    client.on('error', () => {});
    return client.connect();
  }),
  OF_CLIENT,
);
