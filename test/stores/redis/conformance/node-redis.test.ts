import { createClient } from 'redis';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { redisSuite, restartSetBack, single } from './suite.ts';

redisSuite(
  await single(
    async ({ url }) => {
      const client = createClient({ url });
      // Its server crashes.
      client.on('error', () => {});
      await client.connect();
      return { client, end: () => client.destroy() };
    },
    { forget: restartSetBack },
  ),
  OF_CLIENT,
);
