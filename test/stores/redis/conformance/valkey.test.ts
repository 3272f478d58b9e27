import { Redis } from 'ioredis';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { restartEmpty, single, suite } from './suite.ts';

suite(
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
