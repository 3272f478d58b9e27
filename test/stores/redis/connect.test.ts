/** The stores that Redis URLs name: what is read of a URL, and that locks work through it. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Store } from 'holdfast';
import { connect, openStore } from 'holdfast/connect';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseRedisUrl } from '../../../src/clients/redis/url.ts';
import { openerOf } from '../../../src/stores/openers.ts';
import { startCluster } from '../../servers/cluster.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { startTls } from '../../servers/tls.ts';
import { startSentinels } from '../../servers/topologies.ts';

const CANARY = 'canary-5up3r-s3cr3t';

const server = await RedisServer.start({ config: [`user app on >p%40ss:w/rd ~* &* +@all`] });
afterAll(() => server.close());
const at = `${server.host}:${server.port}`;

/** A store for the test: nothing was lost before. */
async function open(url: string): Promise<Store> {
  const store = await openStore(`${url}${url.includes('?') ? '&' : '?'}afterDataLoss=trust`);
  onTestFinished(() => store.close?.());
  return store;
}

async function works(url: string): Promise<void> {
  const trusting = `${url}${url.includes('?') ? '&' : '?'}afterDataLoss=trust`;
  await using locks = await connect(trusting);
  await using others = await connect(trusting);
  const lease = await locks.mutex('x').acquire();
  expect(await others.mutex('x').tryAcquire()).toBeNull();
  const next = others.mutex('x').acquire();
  await lease.release();
  await (await next).release();
}

describe('what a URL says', () => {
  const nothing = {
    ...{ kind: 'server', tls: false, path: '', database: 0, query: {} },
    ...{ username: undefined, password: undefined },
  };
  const hosts = (...all: readonly (readonly [host: string, port: number])[]) => ({
    addresses: all.map(([host, port]) => ({ host, port })),
  });

  test.each<[string, object]>([
    ['redis://localhost', hosts(['localhost', 6379])],
    [
      'rediss://u:p%40%3A%2F%25@[::1]:7000/3?namespace=a%20b&maxTtl=1m',
      {
        ...{ ...hosts(['::1', 7000]), tls: true, database: 3 },
        ...{ username: 'u', password: 'p@:/%', query: { namespace: 'a b', maxTtl: '1m' } },
      },
    ],
    ['redis://:a:b@h/', { ...hosts(['h', 6379]), password: 'a:b' }],
    [
      'redis+unix://u:p@/run/a%20b.sock?db=2',
      {
        ...{ kind: 'socket', addresses: [], path: '/run/a b.sock', database: 2 },
        ...{ username: 'u', password: 'p' },
      },
    ],
    [
      'rediss+sentinel://:p@a,b:1/main/4',
      {
        ...{ kind: 'sentinel', tls: true, path: 'main', database: 4, password: 'p' },
        ...hosts(['a', 26_379], ['b', 1]),
      },
    ],
    ['redis+cluster://a:1,b/', { kind: 'cluster', ...hosts(['a', 1], ['b', 6379]) }],
  ])('%s', (url, said) => {
    const [scheme = '', rest = ''] = url.split(/:(.*)/s);
    expect(parseRedisUrl(scheme, rest)).toEqual({ ...nothing, ...said });
  });

  test.each([
    ...[`redis:${CANARY}`, `redis://u:${CANARY}/x@host`, `redis://u:${CANARY}#@host`],
    ...[`redis://u:${CANARY}?@host`, `redis://u:%zz${CANARY}@host`, `redis://u:${CANARY}@`],
    ...[`redis://u:${CANARY}@a,b`, `redis://u:${CANARY}@host:0`, `redis://u:${CANARY}@host:65536`],
    ...[`redis://u:${CANARY}@host:x`, `redis://u:${CANARY}@ho st`, `redis://u:${CANARY}@host/x`],
    ...[`redis://u:${CANARY}@host/1/2`, `redis://u:${CANARY}@host?db=1`],
    ...[`redis+unix://u:${CANARY}@host/path`, `redis+unix://u:${CANARY}@`],
    ...[`redis+unix://u:${CANARY}@/path?db=one`, `redis+sentinel://u:${CANARY}@host`],
    ...[`redis+sentinel://u:${CANARY}@host/name/0/more`, `redis+cluster://u:${CANARY}@host/1`],
    ...[`redis+cluster://u:${CANARY}@host,,other`, `redis://u:${CANARY}@host?replicas=one`],
    ...[`redis://u:${CANARY}@host?maxWaiters=-1`, `redis://u:${CANARY}@host?maxttl=1m`],
    ...[`redis://u:${CANARY}@host?maxTtl=soon`, `redis://u:${CANARY}@host?onHazard=ignore`],
    ...[`redis+cluster+tls://u:${CANARY}@host`, `rediss+unix://u:${CANARY}@/path`],
  ])('%s is refused without its password', async (url) => {
    const error = await openStore(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'USAGE' });
    expect(String((error as Error).stack).replaceAll(url, '')).not.toContain(CANARY);
  });
});

test('one server, with a user, a database and options of the store', async () => {
  await works(`redis://${at}`);
  const store = await open(`redis://app:p%2540ss%3Aw%2Frd@${at}/2?namespace=my:own&maxWaiters=3`);
  expect((await store.inspect('x')).holders).toEqual([]);
  expect(store.lineage).toContain('my:own');
  expect(String(await server.command('CLIENT', 'LIST'))).toMatch(/ db=2 .*user=app/);
});

test('a socket file', () => works(`redis+unix://${join(server.folder, 'socket')}?db=1`));

test('with or without TLS, by the client that is installed', async () => {
  const { server: secure, url, ca } = await startTls();
  onTestFinished(() => secure.close());
  const store = await open(url);
  const file = join(secure.folder, 'trusted.crt');
  writeFileSync(file, ca);
  for (const missing of ['redis', 'ioredis']) {
    const trusting = { NODE_EXTRA_CA_CERTS: file };
    expect(await run(missing, `${url}?afterDataLoss=trust`, trusting)).toBe('acquired');
    expect(await run(missing, `redis://${at}?afterDataLoss=trust`)).toBe('acquired');
  }
  // Nobody else knows the authority of this certificate.
  const refused = { code: 'STORE', retryable: false, message: expect.stringMatching(/TLS/) };
  await expect(store.inspect('x')).rejects.toMatchObject(refused);
});

test('Sentinels', async () => {
  const set = await startSentinels();
  onTestFinished(() => set.close());
  const hosts = set.sentinels.map(({ host, port }) => `${host}:${port}`).join(',');
  await works(`redis+sentinel://${hosts}/${set.name}`);
});

test('a cluster, which also tells its version and its time', async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.close());
  const hosts = cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(',');
  for (const scheme of ['redis+cluster', 'redisson+redis+cluster']) {
    const { opener } = await openerOf(`${scheme}://${hosts}`);
    expect(await opener.facts?.(scheme, `//${hosts}`)).toMatchObject({
      version: expect.stringMatching(/^(Redis|Valkey) \d+\.\d+/),
      clock: { aheadMs: expect.closeTo(0, -4) },
    });
  }
  await works(`redis+cluster://${hosts}`);
});

/** In a process of its own, where these packages are missing. */
async function run(missing: string, url: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const program = join(import.meta.dirname, 'without-packages.ts');
  const sources = join(import.meta.dirname, '../../../scripts/sources.mjs');
  const args = ['--import', sources, program, missing, url];
  const options = { env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout.trim();
}

test('without any client installed, the error names both', async () => {
  expect(await run('ioredis,redis', `redis://u:${CANARY}@${at}`)).toBe(
    'UNSUPPORTED: A Redis URL needs a client: run `npm install ioredis` or `npm install redis`.',
  );
});
