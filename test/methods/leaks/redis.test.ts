import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { RedisServer } from '../../servers/redis-server.ts';
import { LOGIN, QUEUE_USER } from '../../stores/redis/least-user.ts';
import { leakTests } from './leaks.ts';
import type { Ground } from './world.ts';

const TRUST = { afterDataLoss: 'trust', maxTtl: '30s' } as const;

async function groundFor(login: Partial<typeof LOGIN>, config: readonly string[]): Promise<Ground> {
  const server = await RedisServer.start({ config });
  const { host, port } = server;
  const open = () => redisStore(new Redis({ host, port, ...login, lazyConnect: true }), TRUST);
  const left = async () => ({
    keys: Number(await server.command('DBSIZE')),
    connections: String(await server.command('CLIENT', 'LIST')).split('\n').length,
  });
  const url = `${server.url}?afterDataLoss=trust&maxTtl=30s`;
  return { open, url, connects: 1000, left, close: () => server.close() };
}

leakTests('Redis', () => groundFor({}, []));

const deaf = QUEUE_USER.replace(' &holdfast:!wake:*', '');
leakTests('Redis whose user may not listen', () => groundFor(LOGIN, [deaf]), [
  'acquire and release',
]);
