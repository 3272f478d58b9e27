/** The fence in Redis, over connections that break, hold back, or repeat what they carry. */
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { linkOf } from '../../../src/clients/redis/client.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { add, type FenceOn, fenceOn, get, set } from './bed.ts';
import { type Place, packages } from './packages.ts';

const ioredis = packages[0]!;
const at = (resource: string) => ({ resource, lineage: 'one' });

const server = await RedisServer.start();
afterAll(() => server.close());

const fenceAt = (place: Place): FenceOn => fenceOn(ioredis.server(place));

async function proxied(): Promise<{ readonly proxy: TcpProxy; readonly fence: FenceOn }> {
  const proxy = await TcpProxy.start(server.port);
  const fence = fenceAt(proxy);
  onTestFinished(() => proxy.close());
  return { proxy, fence };
}

const evals = (): Promise<number> => server.calls('eval', 'evalsha');
const numberAt = async (key: string): Promise<number> => Number(await server.command('GET', key));

test('a write that its connection holds back does not come after what was done since', async () => {
  const { proxy, fence } = await proxied();
  const entry = await fence.enter({ ...at('a'), token: 1n });
  await set(entry, 'a', 1);
  // The connection stands still, is given up after three seconds, and then goes on.
  proxy.toServer.set({ flow: 'hold' });
  await expect(add(entry, 'a', 10)).rejects.toMatchObject({ code: 'STORE', outcome: 'unknown' });
  const calls = await evals();
  proxy.toServer.set();
  await until('came late', async () => (await evals()) > calls);
  // What nobody has overtaken is carried out, however late.
  expect(await get(entry, 'a')).toBe('11');

  const other = fenceAt(server);
  proxy.toServer.set({ flow: 'hold' });
  await expect(add(entry, 'a', 10)).rejects.toMatchObject({ outcome: 'unknown' });
  expect(await get(await other.enter({ ...at('a'), token: 1n }), 'a')).toBe('11');
  const before = await evals();
  proxy.toServer.set();
  await until('came late', async () => (await evals()) > before);
  expect(await numberAt('a')).toBe(11);
});

test('a request that is repeated, or overtaken, is refused by its number', async () => {
  const { fence } = await proxied();
  const entry = await fence.enter({ ...at('b'), token: 1n });
  const wires = linkOf(ioredis.server(server));
  onTestFinished(() => wires.close());
  await server.command('CONFIG', 'RESETSTAT');
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', '0');
  await server.command('SLOWLOG', 'RESET');
  expect(await add(entry, 'b')).toBe(1);
  // The very command, as a client's resend queue or a proxy would send it again.
  const log = (await server.command('SLOWLOG', 'GET', '10')) as unknown[][];
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', '10000');
  const commands = log.map(([, , , words]) => words as string[]);
  const sent = commands.find(([verb = '']) => /^evalsha$/i.test(verb));
  expect(sent?.[3]).toBe(fence.keyOf('b'));
  await expect(wires.send('b', sent ?? [])).rejects.toThrow(/HOLDFAST_STALE seq/);
  expect(await add(entry, 'b')).toBe(2);
  await expect(wires.send('b', sent ?? [])).rejects.toThrow(/HOLDFAST_STALE seq/);
  expect(await numberAt('b')).toBe(2);
});

test('requests of one entry keep their order, also while scripts are unknown', async () => {
  const { fence } = await proxied();
  const entry = await fence.enter({ ...at('c'), token: 1n });
  const append = (n: number): Promise<unknown> => {
    const script = `return redis.call('APPEND', KEYS[1], ARGV[1])${' '.repeat(n % 3)}`;
    return entry.eval(script, { keys: ['c'], args: [`${n} `] });
  };
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  await server.command('SCRIPT', 'FLUSH');
  // One of the three is known from here on.
  await append(0);
  await Promise.all(numbers.slice(1).map(append));
  expect(await server.command('GET', 'c')).toBe(numbers.map((n) => `${n} `).join(''));
});

test('a server that starts anew without its memory lets no old entry write', async () => {
  const forgetful = await RedisServer.start();
  onTestFinished(() => forgetful.close());
  const fence = fenceAt(forgetful);
  const entry = await fence.enter({ ...at('d'), token: 1n });
  await set(entry, 'd', 1);
  await forgetful.kill();
  await forgetful.start();
  await until('was refused', async () => {
    const outcome = await set(entry, 'd', 2).catch((error) => error.message);
    return /key of the fence was deleted/.test(String(outcome));
  });
  expect(await forgetful.command('EXISTS', 'd')).toBe(0);
});
