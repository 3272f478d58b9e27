import { afterEach, expect, it } from 'vitest';
import { RedisServer } from './redis-server.ts';

const servers: RedisServer[] = [];

async function start(...given: Parameters<typeof RedisServer.start>): Promise<RedisServer> {
  const server = await RedisServer.start(...given);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

it('answers on its port, and on no other interface', async () => {
  const server = await start();
  expect(await server.command('CONFIG', 'GET', 'port')).toEqual(['port', `${server.port}`]);
  expect(await server.command('CONFIG', 'GET', 'bind')).toEqual(['bind', '127.0.0.1']);
});
