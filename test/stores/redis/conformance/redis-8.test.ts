import { Redis } from 'ioredis';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { redisSuite, single } from './suite.ts';

redisSuite(
  await single(
    async ({ url }) => {
      const client = new Redis(url);
      return { client, end: () => client.disconnect() };
    },
    { program: 'redis-8' },
  ),
  OF_CLIENT,
);
