/** The command line on ZooKeeper; the rest of it is the same on every store. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import { certificates } from '../../servers/tls.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { examined } from '../examined.ts';
import { mistakes, needsAuthority, runsAndShows, SECRET } from './every-server.ts';

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
  await runsAndShows(`zookeeper://ann:a%2Fb@${hosts}/mine?path=/locks&maxWaiters=9`);
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
  const store = `zookeepers://127.0.0.1:${secret.tlsPort}`;
  const run = ['run', 'a', '--store', store, '--wait', '4s'];
  await needsAuthority(files['ca.crt'] ?? '', run, /certificate/);
});

// A request waits for a connection for almost a third of the ttl, 10 s, in case there is one soon.
mistakes('zookeeper', { server: () => server, verbs: ['run a --wait 4s'] }, [
  ['the server speaks no TLS', 'zookeepers://HERE', 69, /before secure TLS/],
  ['nobody is named', 'zookeeper://HERE/mine?path=/locks', 77, /NOAUTH/],
  ['the password is wrong', `zookeeper://ann:${SECRET}@HERE/mine?path=/locks`, 77, /NOAUTH/],
  ['the chroot is missing', `zookeeper://ann:${SECRET}@HERE/theirs`, 77, /chroot .*does not exist/],
]);
