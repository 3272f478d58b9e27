import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { RedisServer } from '../../servers/redis-server.ts';
import { plainSuite } from './plain-suite.ts';

const server = await RedisServer.start();
const client = new Redis(server.url);
afterAll(async () => {
  client.disconnect();
  await server.close();
});

plainSuite(client);
