import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEtcdCluster } from '../../servers/etcd-cluster.ts';
import type { EtcdServer } from '../../servers/etcd-server.ts';
import { closing } from '../../support/closing.ts';
import { failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { beginning, clientOf, Ear, hear, put, start, valuesOf } from './scene.ts';

const ANN = { name: 'ann', password: 's/e:c@r%t', prefix: 'ann/' };
const BOB = { name: 'bob', password: 'other', prefix: '' };
const USERS = [ANN, BOB];

function addressOf(server: EtcdServer, { name, password } = ANN): string {
  return server.url.replace('://', `://${name}:${encodeURIComponent(password)}@`);
}

describe.each(['etcd', 'etcd-3.5'] as const)('%s with users', (program) => {
  it('lets in who has the right password, to the keys that are permitted', async () => {
    const server = await start({ program, users: USERS });
    const client = clientOf(addressOf(server), { readable: 'ann/' });
    await Promise.all(['ann/a', 'ann/b', 'ann/c'].map((key) => put(client, key)));
    const { id } = await client.grant(60_000);
    expect(await client.keepAlive(id)).toBe(60_000);
    expect(await client.timeToLive(id)).toBeGreaterThan(0);
    await expect(clientOf(addressOf(server)).keepAlive(id)).rejects.toThrow(/does not permit/);
    await client.revoke(id);
    const denied = put(client, 'bob/k');
    await expect(denied).rejects.toMatchObject({ retryable: false, outcome: 'failed' });
    await expect(denied).rejects.toThrow(/does not permit/);
    expect(Object.keys(await valuesOf(client, 'ann/'))).toHaveLength(3);
  });

  it('refuses who has a wrong password, or none, and repeats it nowhere', async () => {
    const server = await start({ program, users: USERS });
    const wrong = clientOf(addressOf(server, { ...ANN, password: 'wrong-secret' }));
    for (const request of [put(wrong, 'ann/k'), wrong.grant(1000), wrong.keepAlive(1n)]) {
      const failure = await failureOf<Error>(request);
      expect(failure).toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed' });
      expect(failure?.message).toMatch(/user name and password/);
      expect(`${failure?.stack} ${failure?.cause}`).not.toContain('wrong-secret');
    }
    const nobody = put(clientOf(server.url), 'ann/k');
    await expect(nobody).rejects.toMatchObject({ retryable: false, outcome: 'failed' });
    await expect(nobody).rejects.toThrow(/requires a user name/);
  });

  it('gives another token for one that it has forgotten', async () => {
    const server = await start({ program, users: USERS });
    const client = clientOf(addressOf(server));
    const ear = await hear(client, 'ann/');
    // Its tokens are gone then.
    await server.restart();
    await until('answered', async () => (await put(client, 'ann/1')).succeeded);
    await until('told', async () => ear.keys.includes('ann/1'));
    expect([ear.starts, ear.losses]).toEqual([1, 0]);
  });

  it('gives another token for one that is too old', async () => {
    const server = await start({ program, users: USERS, config: ['--auth-token-ttl=1'] });
    const client = clientOf(addressOf(server));
    await put(client, 'ann/1');
    // A token that is not used is forgotten within two of its lives.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const ear = await hear(client, 'ann/');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const replies = await Promise.all(['ann/2', 'ann/3'].map((key) => put(client, key)));
    expect(replies.every(({ succeeded }) => succeeded)).toBe(true);
    await until('told', async () => ear.keys.length === 2);
    expect(ear.losses).toBe(0);
  });

  it('is asked again when its users have changed', async () => {
    const server = await start({ program, users: USERS });
    const client = clientOf(addressOf(server, BOB));
    await put(client, 'k1');
    await server.etcdctl('user', 'add', 'carl:secret');
    await server.etcdctl('role', 'revoke-permission', 'bob', '', '--from-key');
    await expect(put(client, 'k2')).rejects.toThrow(/does not permit/);
    await server.etcdctl('role', 'grant-permission', 'bob', 'readwrite', 'k', '--prefix');
    expect((await put(client, 'k3')).succeeded).toBe(true);
  });

  it('loses a watch of keys that are not permitted, and no other', async () => {
    const server = await start({ program, users: USERS });
    const client = clientOf(addressOf(server));
    const sound = new Ear(client, beginning('ann/'));
    const denied = new Ear(client, { key: 'bob/k' });
    await until('lost', async () => denied.losses === 1);
    await until('started', async () => sound.starts === 1);
    await put(client, 'ann/k');
    await until('told', async () => sound.keys.length === 1);
    expect([denied.starts, sound.losses]).toEqual([0, 0]);
  });

  it('does not matter where there are none', async () => {
    const server = await start({ program });
    const client = clientOf(addressOf(server));
    expect((await put(client, 'k')).succeeded).toBe(true);
    await server.letIn(USERS);
    expect((await put(client, 'ann/k')).succeeded).toBe(true);
  });

  it('speaks TLS with who trusts its authority', async () => {
    const server = await start({ program, tls: true, users: USERS });
    const { ca, url } = server;
    const { name: username, password } = ANN;
    const client = clientOf({ endpoints: [url], username, password, tls: { ca } });
    expect((await put(client, 'ann/k')).succeeded).toBe(true);
    const named = { ca, servername: 'localhost' };
    const other = clientOf({ endpoints: [url], username, password, tls: named });
    expect(await valuesOf(other, 'ann/')).toEqual({ 'ann/k': '' });
  });

  it('is refused when TLS or the certificates are not as agreed', async () => {
    const server = await start({ program, tls: 'client-certificates' });
    const { ca, url, host, port } = server;
    const file = (name: string): string => readFileSync(join(server.folder, name), 'utf8');
    const own = { cert: file('server.crt'), key: file('server.key') };
    const client = clientOf({ endpoints: [url], tls: { ca, ...own } });
    expect((await put(client, 'k')).succeeded).toBe(true);
    for (const address of [
      url,
      `etcd://${host}:${port}`,
      { endpoints: [url], tls: { ca } },
      { endpoints: [url], tls: { ca, ...own, servername: 'elsewhere' } },
    ]) {
      const failure = put(clientOf(address), 'k');
      await expect(failure).rejects.toMatchObject({ code: 'STORE', outcome: 'failed' });
    }
    await expect(put(clientOf(url), 'k')).rejects.toMatchObject({ retryable: false });
    await expect(put(clientOf(url), 'k')).rejects.toThrow(/do not agree on TLS/);
  });
});

it('three servers with users and TLS take over from each other', async () => {
  const cluster = closing(await startEtcdCluster({ users: USERS, tls: true }));
  const [first] = cluster.servers as [EtcdServer];
  const { name: username, password } = ANN;
  const endpoints = [cluster.url];
  const client = clientOf({ endpoints, username, password, tls: { ca: first.ca } });
  await put(client, 'ann/0');
  for (const server of cluster.servers) {
    await server.kill();
    await until('answered', async () => (await put(client, 'ann/k')).succeeded);
    await server.start();
    await cluster.leader();
  }
});
