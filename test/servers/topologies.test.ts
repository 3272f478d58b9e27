import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.ts';
import { missing, type ProgramName } from './programs.ts';
import { closeAll, type RedisServer } from './redis-server.ts';
import { startTls } from './tls.ts';
import { startFive, startReplicated, startSentinels, startSingle } from './topologies.ts';

const PROGRAMS: readonly ProgramName[] = ['redis', 'redis-8', 'valkey'];

describe.for(PROGRAMS)('on %s', (program) => {
  beforeEach(async ({ skip }) => {
    const reason = await missing(program);
    skip(reason !== undefined, reason);
  });

  it('what a primary was told, its replicas know', async () => {
    const { primary, replicas, close } = await startReplicated({ program });
    onTestFinished(close);
    await primary.command('SET', 'k', 'v');
    for (const replica of replicas) {
      await until('replicated', async () => (await replica.command('GET', 'k')) === 'v');
      await expect(replica.command('SET', 'k', 'w')).rejects.toThrow(/READONLY/);
    }
  });

  it('Sentinels promote a replica when the primary dies, and it keeps the data', async () => {
    const all = await startSentinels({ program });
    onTestFinished(all.close);
    const { primary, sentinels, name } = all;
    const client = new Redis({
      sentinels: sentinels.map(({ host, port }) => ({ host, port })),
      name,
      maxRetriesPerRequest: null,
    });
    onTestFinished(() => client.disconnect());
    // It says so for as long as there is no primary.
    client.on('error', () => {});
    await client.incr('n');
    for (const replica of all.replicas) {
      await until('replicated', async () => (await replica.command('GET', 'n')) === '1');
    }
    await primary.kill();
    const answer = client.incr('n');
    const after = await all.promoted(primary);
    expect(await answer).toBe(2);
    expect(await after.command('GET', 'n')).toBe('2');
  });

  it('TLS is spoken with whom trusts the authority, and nothing else is', async () => {
    const { server, url, ca } = await startTls({ program });
    onTestFinished(() => server.close());
    const once = { lazyConnect: true, retryStrategy: () => null };
    const client = new Redis(url, { ...once, tls: { ca } });
    await client.connect();
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
    for (const [address, options] of [
      [url, {}],
      [server.url, {}],
    ] as const) {
      const stranger = new Redis(address, { ...once, ...options });
      stranger.on('error', () => {});
      await expect(stranger.connect()).rejects.toThrow();
    }
  });

  it('a user may do what its rules say', async () => {
    const server = await startSingle({
      program,
      config: ['user app on >app-password ~app:* +get +set +ping +info'],
    });
    onTestFinished(() => server.close());
    const client = new Redis(server.url, { username: 'app', password: 'app-password' });
    onTestFinished(() => client.disconnect());
    expect(await client.set('app:k', 'v')).toBe('OK');
    await expect(client.set('other', 'v')).rejects.toThrow(/NOPERM/);
    await expect(client.flushall()).rejects.toThrow(/NOPERM/);
  });
});

it('five servers know nothing of each other', async () => {
  const five = await startFive();
  onTestFinished(() => closeAll(five));
  const sizes = (): Promise<unknown[]> => Promise.all(five.map((one) => one.command('DBSIZE')));
  await five[2]?.command('SET', 'k', 'v');
  expect(await sizes()).toEqual([0, 0, 1, 0, 0]);
  await five[2]?.kill();
  expect(five.map((one: RedisServer) => one.running)).toEqual([true, true, false, true, true]);
});
