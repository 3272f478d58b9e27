import { Redis } from 'ioredis';
import { redisSuite, single } from './suite.ts';

redisSuite(
  await single(async ({ url }) => {
    const client = new Redis(url);
    return { client, end: () => client.disconnect() };
  }),
);
