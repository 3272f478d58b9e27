/** The user of the page may do what is needed, and nothing else. */
import { readFileSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { etcdStore } from 'holdfast/etcd';
import { etcdFence } from 'holdfast/fence';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { clientOf } from '../../clients/etcd/scene.ts';
import { useAll } from '../../methods/faults/verbs.ts';
import { sharedServer } from './fault-bed.ts';

const page = readFileSync('docs/stores/etcd.md', 'utf8');
const [, commands = ''] = /^```sh\n(etcdctl role add locks[\s\S]*?)^```$/m.exec(page) ?? [];

const LOGIN = { username: 'locks', password: 'secret' };

const server = await sharedServer({ users: [] });
const endpoints = [server.url];
beforeAll(async () => {
  for (const command of commands.trim().split('\n')) {
    const [program, ...args] = command.split(' ');
    expect(program).toBe('etcdctl');
    await server.etcdctl(...args);
  }
});

test('all verbs', async () => {
  await using locks = createLocks(etcdStore({ endpoints, ...LOGIN }));
  await useAll(locks);
});

test('nothing of others', async () => {
  await using elsewhere = createLocks(etcdStore({ endpoints, ...LOGIN }, { prefix: 'holdfast0' }));
  const denied = { code: 'STORE', message: expect.stringMatching(/not permit/), retryable: false };
  await expect(elsewhere.mutex('a').acquire()).rejects.toMatchObject(denied);
  await expect(elsewhere.inspect('a')).rejects.toMatchObject(denied);
  const etcd = clientOf({ endpoints, ...LOGIN });
  const all = { range: { key: 'a', end: 'z' } };
  await expect(etcd.txn({ success: [all] })).rejects.toMatchObject(denied);
});

test('who observes, and may do so no more, is told', async () => {
  await using locks = createLocks(etcdStore({ endpoints, ...LOGIN }));
  const standings = createElection(locks, 'observed').observe();
  expect((await standings.next()).value).toMatchObject({ leaders: [] });
  const range = ['locks', 'holdfast/', '--prefix=true'];
  await server.etcdctl('role', 'revoke-permission', ...range);
  onTestFinished(async () => {
    await server.etcdctl('role', 'grant-permission', 'locks', 'readwrite', ...range.slice(1));
  });
  await expect(standings.next()).rejects.toMatchObject({
    message: expect.stringMatching(/not permit/),
  });
});

test('the fence, once its keys are permitted', async () => {
  const etcd = clientOf({ endpoints, ...LOGIN });
  await using locks = createLocks(etcdStore({ endpoints, ...LOGIN }));
  await locks.mutex('fenced').run(async (lease) => {
    const denied = etcdFence().enter(etcd, lease);
    await expect(denied).rejects.toMatchObject({ message: expect.stringMatching(/not permit/) });
    const [, keys = ''] = /`readwrite (holdfast-fence\/) --prefix=true`/.exec(page) ?? [];
    await server.etcdctl('role', 'grant-permission', 'locks', 'readwrite', keys, '--prefix=true');
    const entry = await etcdFence().enter(etcd, lease);
    const key = 'holdfast/not a claim';
    expect(await entry.write({ success: [{ put: { key, value: '' } }] })).toMatchObject({
      succeeded: true,
    });
  });
});
