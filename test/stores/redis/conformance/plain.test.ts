import { Redis } from 'ioredis';
import { plainSuite } from './plain-suite.ts';
import { restartSetBack, single } from './suite.ts';

plainSuite(
  await single(
    async ({ url }) => {
      const client = new Redis(url);
      // Its server crashes.
      client.on('error', () => {});
      return { client, end: () => client.disconnect() };
    },
    { forget: restartSetBack },
  ),
);
