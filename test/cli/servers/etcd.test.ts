/** The command line on etcd; the rest of it is the same on every store. */
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { startEtcd } from '../../servers/etcd-server.ts';
import { examined } from '../examined.ts';
import { mistakes, needsAuthority, runsAndShows, SECRET } from './every-server.ts';

const server = await startEtcd({ users: [{ name: 'ann', password: 'a/b', prefix: 'mine/' }] });
afterAll(() => server.close());

it('runs a command under a lock, and shows it', () =>
  runsAndShows(`etcd://ann:a%2Fb@127.0.0.1:1,127.0.0.1:${server.port}?prefix=mine/&maxWaiters=9`));

it('is looked at by the doctor, as the user that the URL names', async () => {
  const store = `etcd://ann:a%2Fb@127.0.0.1:${server.port}?prefix=mine/`;
  const { server: told } = await examined(store);
  expect(told?.says).toMatch(/^etcd 3\.\d+\.\d+, database of \d+\.\d MiB$/);
});

it('speaks TLS with whom the authority of NODE_EXTRA_CA_CERTS vouches for', async () => {
  const secret = await startEtcd({ tls: true });
  onTestFinished(() => secret.close());
  await needsAuthority(secret.ca, ['run', 'a', '--store', secret.url], /do not agree on TLS/);
});

mistakes('etcd', { server: () => server, verbs: ['run a --wait 3s'] }, [
  // The server may cut it off first.
  ['the server speaks no TLS', 'etcds://HERE', 69, /TLS|broke the connection/],
  ['nobody is named', 'etcd://HERE', 69, /requires a user name/],
  ['the password is wrong', `etcd://ann:${SECRET}@HERE`, 69, /does not know this user/],
  ['the user may not', 'etcd://ann:a%2Fb@HERE?prefix=theirs/', 69, /not permit this user/],
]);
