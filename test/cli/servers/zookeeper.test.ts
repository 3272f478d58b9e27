/** The command line on ZooKeeper; the rest of it is the same on every store. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import { certificates } from '../../servers/tls.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { examined } from '../examined.ts';
import { Place } from '../program.ts';

const SECRET = 'canary-4711';

let server: ZookeeperServer;
beforeAll(async () => {
  server = await startZookeeper();
  const session = zookeeperClient(server.url).start();
  await session.create('/mine');
  await session.close();
});
afterAll(() => server?.close());

it('runs a command under a lock, and shows it', async () => {
  const hosts = `127.0.0.1:1,127.0.0.1:${server.port}`;
  const store = `zookeeper://ann:a%2Fb@${hosts}/mine?path=/locks&maxWaiters=9`;
  const script = `export HOLDFAST_STORE='${store}'
    $holdfast run a -- sh -c '$holdfast show a --json'`;
  const { status, out, err } = await new Place().shell(script).fate;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(JSON.parse(out).holders).toHaveLength(1);
  const session = zookeeperClient(server.url).start();
  onTestFinished(() => session.close());
  expect(await session.exists('/mine/locks')).toBeDefined();
});

it('is looked at by the doctor, who asks the server that replies', async () => {
  const hosts = `127.0.0.1:1,127.0.0.1:${server.port}`;
  const store = `zookeeper://ann:a%2Fb@${hosts}/mine?path=/locks`;
  const { server: told } = await examined(store);
  expect(told?.says).toMatch(/^ZooKeeper 3\.\d+\.\d+, standalone$/);
});

it('speaks TLS with whom the authority of NODE_EXTRA_CA_CERTS vouches for', async () => {
  const files = await certificates();
  const pem = `${files['server.key']}${files['server.crt']}${files['ca.crt']}`;
  const secret = await startZookeeper({ tls: { pem } });
  onTestFinished(() => secret.close());
  const place = new Place();
  writeFileSync(place.path('ca.crt'), files['ca.crt'] ?? '');
  const store = `zookeepers://127.0.0.1:${secret.tlsPort}`;
  const script = `$holdfast run a --store ${store} --wait 4s -- echo done`;
  const env = { NODE_EXTRA_CA_CERTS: place.path('ca.crt') };
  const trusting = await place.shell(script, { env }).fate;
  expect(trusting).toMatchObject({ status: 0, out: 'done\n', err: '' });
  const doubting = await place.shell(script).fate;
  expect(doubting).toMatchObject({ status: 69, err: expect.stringMatching(/certificate/) });
});

// A request waits for a connection for almost a third of the ttl, 10 s, in case there is one soon.
it.each([
  ['nobody listens', 'zookeeper://127.0.0.1:1', 69, /ECONNREFUSED/],
  ['nobody is called that', 'zookeeper://no-such-host.invalid', 69, /ENOTFOUND|EAI_AGAIN/],
  ['the server speaks no TLS', 'zookeepers://HERE', 69, /before secure TLS/],
  ['nobody is named', 'zookeeper://HERE/mine?path=/locks', 77, /NOAUTH/],
  ['the password is wrong', `zookeeper://ann:${SECRET}@HERE/mine?path=/locks`, 77, /NOAUTH/],
  ['the chroot is missing', `zookeeper://ann:${SECRET}@HERE/theirs`, 77, /chroot .*does not exist/],
  ['the URL has a mistake', `zookeeper://me:${SECRET}@HERE/x//y`, 78, /Not a path/],
  ['an option is unknown', `zookeeper://me:${SECRET}@HERE?maxTtl=1m`, 78, /maxTtl/],
])('where %s', async (_, url, expected, says) => {
  const store = url.replace('HERE', `127.0.0.1:${server.port}`);
  const { status, err } = await new Place().fate(
    ...['run', 'a', '--store', store, '--wait', '4s', '--', 'true'],
  );
  expect({ status, err }).toEqual({ status: expected, err: expect.stringMatching(says) });
  expect(err).not.toContain(SECRET);
  expect(err.trim().split('\n')).toHaveLength(1);
});
