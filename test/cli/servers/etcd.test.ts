/** The command line on etcd; the rest of it is the same on every store. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type EtcdServer, startEtcd } from '../../servers/etcd-server.ts';
import { examined } from '../examined.ts';
import { Place } from '../program.ts';

const SECRET = 'canary-4711';

let server: EtcdServer;
beforeAll(async () => {
  server = await startEtcd({ users: [{ name: 'ann', password: 'a/b', prefix: 'mine/' }] });
});
afterAll(() => server.close());

it('runs a command under a lock, and shows it', async () => {
  const store = `etcd://ann:a%2Fb@127.0.0.1:1,127.0.0.1:${server.port}?prefix=mine/&maxWaiters=9`;
  const script = `export HOLDFAST_STORE='${store}'
    $holdfast run a -- sh -c '$holdfast show a --json'`;
  const { status, out, err } = await new Place().shell(script).fate;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(JSON.parse(out).holders).toHaveLength(1);
});

it('is looked at by the doctor, as the user that the URL names', async () => {
  const store = `etcd://ann:a%2Fb@127.0.0.1:${server.port}?prefix=mine/`;
  const { server: told } = await examined(store);
  expect(told?.says).toMatch(/^etcd 3\.\d+\.\d+, database of \d+\.\d MiB$/);
});

it('speaks TLS with whom the authority of NODE_EXTRA_CA_CERTS vouches for', async () => {
  const secret = await startEtcd({ tls: true });
  onTestFinished(() => secret.close());
  const place = new Place();
  writeFileSync(place.path('ca.crt'), secret.ca);
  const script = `$holdfast run a --store ${secret.url} -- echo done`;
  const env = { NODE_EXTRA_CA_CERTS: place.path('ca.crt') };
  const trusting = await place.shell(script, { env }).fate;
  expect(trusting).toMatchObject({ status: 0, out: 'done\n', err: '' });
  const doubting = await place.shell(script).fate;
  expect(doubting).toMatchObject({ status: 69, err: expect.stringMatching(/do not agree on TLS/) });
});

it.each([
  ['nobody listens', 'etcd://127.0.0.1:1', 69, /ECONNREFUSED/],
  ['nobody is called that', 'etcd://no-such-host.invalid', 69, /ENOTFOUND|EAI_AGAIN/],
  // The server may cut it off first.
  ['the server speaks no TLS', 'etcds://HERE', 69, /TLS|broke the connection/],
  ['nobody is named', 'etcd://HERE', 69, /requires a user name/],
  ['the password is wrong', `etcd://ann:${SECRET}@HERE`, 69, /does not know this user/],
  ['the user may not', 'etcd://ann:a%2Fb@HERE?prefix=theirs/', 69, /not permit this user/],
  ['the URL has a mistake', `etcd://me:${SECRET}@HERE/x`, 78, /malformed/],
  ['an option is unknown', `etcd://me:${SECRET}@HERE?maxTtl=1m`, 78, /maxTtl/],
])('where %s', async (_, url, expected, says) => {
  const store = url.replace('HERE', `127.0.0.1:${server.port}`);
  const { status, err } = await new Place().fate(
    ...['run', 'a', '--store', store, '--wait', '3s', '--', 'true'],
  );
  expect({ status, err }).toEqual({ status: expected, err: expect.stringMatching(says) });
  expect(err).not.toContain(SECRET);
  expect(err.trim().split('\n')).toHaveLength(1);
});
