import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { RedisServer } from './redis-server.ts';

async function start(): Promise<RedisServer> {
  const server = await RedisServer.start();
  onTestFinished(() => server.close());
  return server;
}

it('answers on its port, on loopback only', async () => {
  const server = await start();
  const client = new Redis(server.url);
  onTestFinished(() => client.disconnect());
  expect(await client.ping()).toBe('PONG');
  expect(await server.command('CONFIG', 'GET', 'bind')).toEqual(['bind', '127.0.0.1']);
});

it('one that is not persistent cannot be asked to keep its data', async () => {
  const server = await start();
  await expect(server.restart({ keepData: true })).rejects.toThrow(/persistent/);
  expect(await server.command('PING')).toBe('PONG');
});
