import { Redis } from 'ioredis';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { redisSuite, restartEmpty, single } from './suite.ts';

redisSuite(
  await single(
    async ({ url }) => {
      const client = new Redis(url);
      // Its server crashes.
      client.on('error', () => {});
      return { client, end: () => client.disconnect() };
    },
    { program: 'valkey', forget: restartEmpty },
  ),
  OF_CLIENT,
);
