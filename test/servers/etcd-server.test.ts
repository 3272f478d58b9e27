import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/until.ts';
import { type EtcdCluster, startEtcdCluster } from './etcd-cluster.ts';
import { type EtcdOptions, type EtcdServer, startEtcd } from './etcd-server.ts';
import { alive, stateOf } from './process-table.ts';
import { missing } from './programs.ts';

describe.for(['etcd', 'etcd-3.5'] as const)('%s', (program) => {
  beforeEach(async ({ skip }) => {
    const reason = await missing(program);
    skip(reason !== undefined, reason);
  });

  const start = async (options: EtcdOptions = {}): Promise<EtcdServer> => {
    const server = await startEtcd({ program, ...options });
    onTestFinished(() => server.close());
    return server;
  };
  const startThree = async (options: EtcdOptions = {}): Promise<EtcdCluster> => {
    const cluster = await startEtcdCluster({ program, ...options });
    onTestFinished(() => cluster.close());
    return cluster;
  };

  it('keeps through a crash what it has answered, on the same port', async () => {
    const server = await start();
    const { pid } = server;
    await server.etcdctl('put', 'k', 'v');
    await server.kill();
    expect(alive(pid)).toBe(false);
    await expect(server.etcdctl('--command-timeout=1s', 'get', 'k')).rejects.toThrow();
    await server.start();
    expect(await server.etcdctl('get', 'k')).toBe('k\nv\n');
  });

  it('leaves no process and no folder when it is closed', async () => {
    const server = await start();
    const { pid, folder } = server;
    await server.close();
    expect(alive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  it('stands still, and loses nothing', async () => {
    const server = await start();
    server.pause();
    await until('stood still', async () => stateOf(server.pid) === 'T');
    let answered = false;
    const put = server.etcdctl('put', 'k', 'v').finally(() => {
      answered = true;
    });
    // Ten times as long as a put takes.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(answered).toBe(false);
    server.resume();
    expect(await put).toBe('OK\n');
  });

  it('lets in users, each to the keys of its own', async () => {
    const server = await start({ users: [{ name: 'ann', password: 'secret', prefix: 'a/' }] });
    const { etcdctlCommand } = server;
    expect(etcdctlCommand).toContain('--user=root:root');
    expect(await server.etcdctl('put', 'b', '1')).toBe('OK\n');
    expect(await server.etcdctl('--user=ann:secret', 'put', 'a/k', '1')).toBe('OK\n');
    const denied = server.etcdctl('--user=ann:secret', 'put', 'b', '1');
    await expect(denied).rejects.toThrow(/permission denied/);
    const wrong = server.etcdctl('--user=ann:wrong', 'put', 'a/k', '1');
    await expect(wrong).rejects.toThrow(/invalid user ID or password/);
  });

  it('speaks TLS, and asks for a certificate if it is to', async () => {
    const server = await start({ tls: 'client-certificates' });
    expect(await server.etcdctl('put', 'k', 'v')).toBe('OK\n');
    const without = server.etcdctl('--cert=', '--key=', '--command-timeout=1s', 'get', 'k');
    await expect(without).rejects.toThrow();
  });

  it('in threes, elects another when the leader dies, and the dead one comes back', async () => {
    const cluster = await startThree();
    const leader = await cluster.leader();
    await leader.etcdctl('put', 'k', 'v');
    await leader.kill();
    const next = await cluster.leader();
    expect(next).not.toBe(leader);
    await next.etcdctl('put', 'k', 'w');
    await leader.start();
    expect(await leader.etcdctl('get', 'k')).toBe('k\nw\n');
  });

  it('in threes, cuts one off, which then serves no write and learns all later', async () => {
    const cluster = await startThree();
    const [cut] = await cluster.followers();
    if (cut === undefined) throw new Error('there are followers');
    await cluster.cutOff(cut);
    await expect(cut.etcdctl('--command-timeout=1s', 'put', 'k', 'v')).rejects.toThrow();
    const others = cluster.servers.filter((server) => server !== cut);
    for (const other of others) expect(await other.etcdctl('put', 'k', 'w')).toBe('OK\n');
    await cluster.heal();
    expect(await cut.etcdctl('get', 'k')).toBe('k\nw\n');
  });

  it('in threes, a leader that is cut off is replaced', async () => {
    const users = [{ name: 'ann', password: 'secret', prefix: '' }];
    const cluster = await startThree({ users, tls: true });
    const leader = await cluster.leader();
    await cluster.cutOff(leader);
    const next = await cluster.leader();
    expect(next).not.toBe(leader);
    expect(await next.etcdctl('--user=ann:secret', 'put', 'k', 'v')).toBe('OK\n');
    await cluster.heal();
  });
});
