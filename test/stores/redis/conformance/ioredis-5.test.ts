import { Redis } from 'ioredis5';
import { single, suite } from './suite.ts';

suite(
  await single(async ({ url }) => {
    const client = new Redis(url);
    return { client, end: () => client.disconnect() };
  }),
);
