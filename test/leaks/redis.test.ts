import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { RedisServer } from '../servers/redis-server.ts';
import { leakTests } from './leaks.ts';

leakTests('Redis', async () => {
  const server = await RedisServer.start();
  const url = `${server.url}?afterDataLoss=trust`;
  const open = () => redisStore(new Redis({ ...server, lazyConnect: true }), TRUST);
  const left = async () => ({
    keys: Number(await server.command('DBSIZE')),
    connections: String(await server.command('CLIENT', 'LIST')).split('\n').length,
  });
  return { open, url, connects: 1000, left, close: () => server.close() };
});

const TRUST = { afterDataLoss: 'trust' } as const;
