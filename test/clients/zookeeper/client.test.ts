import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { certificates } from '../../servers/tls.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { closing } from '../../support/closing.ts';
import { paced } from '../../support/this-run.ts';
import { RightsSession } from './rights.ts';
import { Notes, startSession } from './sessions.ts';

const { 'ca.crt': ca = '', ...files } = await certificates();
const pem = `${files['server.key']}${files['server.crt']}`;
const server = await startZookeeper({ tls: { pem } });
afterAll(() => server.close());

const bytes = (text: string): Buffer => Buffer.from(text);

describe('a node', () => {
  it('is created, read, changed and deleted, with its versions', async () => {
    const session = startSession(server.url);
    const { path, stat } = await session.create('/node', { data: bytes('one') });
    expect([path, stat.version, stat.session]).toEqual(['/node', 0, 0n]);
    expect((await session.setData('/node', bytes('two'), { version: 0 })).version).toBe(1);
    await expect(session.setData('/node', bytes('three'), { version: 0 })).rejects.toMatchObject({
      ...{ reason: 'BADVERSION', outcome: 'failed', retryable: true },
    });
    const { data, stat: now } = await session.getData('/node');
    expect([data.toString(), now.czxid, now.mzxid > now.czxid]).toEqual(['two', stat.czxid, true]);
    await expect(session.delete('/node', { version: 0 })).rejects.toMatchObject({
      reason: 'BADVERSION',
    });
    await session.delete('/node', { version: 1 });
    expect(await session.exists('/node')).toBeUndefined();
    await expect(session.delete('/node')).rejects.toMatchObject({ reason: 'NONODE' });
    await expect(session.getChildren('/node')).rejects.toMatchObject({ reason: 'NONODE' });
  });

  it.each([
    ['persistent', /^\/kinds-persistent$/, false],
    ['persistent-sequential', /^\/kinds-persistent-sequential\d{10}$/, false],
    ['ephemeral', /^\/kinds-ephemeral$/, true],
    ['ephemeral-sequential', /^\/kinds-ephemeral-sequential\d{10}$/, true],
    ['container', /^\/kinds-container$/, false],
  ] as const)('%s has its name, and ends with the session or not', async (kind, name, ends) => {
    const session = startSession(server.url);
    const { path, stat } = await session.create(`/kinds-${kind}`, { kind });
    expect(path).toMatch(name);
    expect(await session.exists(path)).toEqual(stat);
    expect(stat.session === session.id).toBe(ends);
    await session.close();
    const other = startSession(server.url);
    expect((await other.exists(path)) === undefined).toBe(ends);
  });

  it('refuses what cannot be, by the name that ZooKeeper has for it', async () => {
    const session = startSession(server.url);
    await session.create('/full');
    await session.create('/full/child', { kind: 'ephemeral' });
    for (const [reason, ask] of [
      ['NODEEXISTS', () => session.create('/full')],
      ['NOTEMPTY', () => session.delete('/full')],
      ['NOCHILDRENFOREPHEMERALS', () => session.create('/full/child/x')],
      ['INVALIDACL', () => session.create('/x', { acl: [] })],
      ['TOOLONG', () => session.setData('/full', Buffer.alloc(2 ** 20))],
    ] as const) {
      await expect(ask()).rejects.toMatchObject({ reason, outcome: 'failed' });
    }
    // The connection has survived all of that.
    expect(await session.exists('/full')).toBeDefined();
  });
});

describe('requests', () => {
  it('are carried out in the order in which they were made, without waiting', async () => {
    const session = startSession(server.url);
    const answers = await Promise.allSettled([
      session.create('/order'),
      session.exists('/order'),
      session.delete('/order'),
      session.getData('/order'),
      session.create('/order', { kind: 'ephemeral' }),
      session.sync(),
      session.getData('/order'),
    ]);
    const outcomes = answers.map(({ status }) => status === 'fulfilled');
    expect(outcomes).toEqual([true, true, true, false, true, true, true]);
  });

  it('in one multi happen all or not at all', async () => {
    const session = startSession(server.url);
    const made = await session.multi([
      { step: 'create', path: '/multi', data: bytes('a') },
      { step: 'create', path: '/multi/c-', kind: 'ephemeral-sequential' },
      { step: 'create', path: '/multi/box', kind: 'container' },
      { step: 'check', path: '/multi', version: 0 },
      { step: 'set', path: '/multi', data: bytes('b') },
      { step: 'delete', path: '/multi/box' },
    ]);
    expect(made).toEqual([
      { path: '/multi' },
      { path: '/multi/c-0000000000' },
      { path: '/multi/box' },
      undefined,
      expect.objectContaining({ version: 1 }),
      undefined,
    ]);
    const half = session.multi([
      { step: 'set', path: '/multi', data: bytes('c') },
      { step: 'check', path: '/multi', version: 7 },
      { step: 'delete', path: '/multi' },
    ]);
    await expect(half).rejects.toMatchObject({ reason: 'BADVERSION', step: 1, outcome: 'failed' });
    expect((await session.getData('/multi')).data.toString()).toBe('b');
    await expect(session.multi([])).rejects.toBeInstanceOf(UsageError);
  });

  it('that the leader commits touch the session, refused or not; others do not', async () => {
    const session = startSession(server.url);
    await session.exists('/');
    const first = session.touchedAt;
    await sleep(session.timeoutMs / 4 + 10);
    await session.exists('/');
    await session.sync();
    expect(session.touchedAt).toBe(first);
    for (const path of ['/nowhere', '/nowhere-else']) {
      await expect(session.delete(path)).rejects.toMatchObject({ reason: 'NONODE' });
    }
    expect(session.touchedAt).toBeGreaterThan(first);
  });
});

describe('who may do what', () => {
  const digest = (user: string): string =>
    `${user.split(':')[0]}:${createHash('sha1').update(user).digest('base64')}`;

  it('a session with credentials makes nodes that are its users alone', async () => {
    const url = `zookeeper://ann:s%25cret@${server.address}`;
    const ann = startSession(url);
    await ann.create('/anns');
    const rights = closing(new RightsSession(url));
    const acl = [{ perms: 31, scheme: 'digest', id: digest('ann:s%cret') }];
    expect(await rights.getAcl('/anns')).toEqual(acl);
    const anybody = startSession(server.url);
    const refusal = { reason: 'NOAUTH', outcome: 'failed', retryable: false };
    await expect(anybody.getData('/anns')).rejects.toMatchObject(refusal);
    // Who may delete a node is said by its parent.
    await anybody.delete('/anns');
    await ann.create('/anns');
    await expect(anybody.create('/anns/x')).rejects.toMatchObject(refusal);
  });

  it('with TLS, if the certificate is known', async () => {
    const secure = { servers: [`localhost:${server.tlsPort}`] };
    const session = startSession({ ...secure, tls: { ca } });
    await session.create('/secret', { kind: 'ephemeral' });
    const stranger = startSession({ ...secure, tls: true });
    await expect(stranger.exists('/', { timeoutMs: paced(1000) })).rejects.toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/certificate/),
    });
    // A client without TLS at that port.
    const plain = startSession({ servers: [`127.0.0.1:${server.tlsPort}`] });
    await expect(plain.exists('/', { timeoutMs: 1000 })).rejects.toMatchObject({ code: 'STORE' });
  });
});

it('a chroot is what paths begin at, those of answers and events too', async () => {
  const outside = startSession(server.url);
  await outside.create('/root');
  await outside.create('/root/of');
  const inside = startSession(`${server.url}/root/of`);
  const notes = new Notes();
  expect(await inside.exists('/a', { watch: notes.watch })).toBeUndefined();
  expect((await inside.create('/a')).path).toBe('/a');
  expect(await outside.exists('/root/of/a')).toBeDefined();
  expect((await inside.getChildren('/', { watch: notes.watch })).children).toEqual(['a']);
  await outside.delete('/root/of/a');
  expect(await notes.until(2)).toEqual(['created /a', 'children /']);
  await inside.confirm();
  const twice = [{ step: 'create', path: '/m', kind: 'ephemeral' }] as const;
  expect(await inside.multi(twice)).toEqual([{ path: '/m' }]);
});

describe('watches', () => {
  it('tell once of what was read', async () => {
    const session = startSession(server.url);
    const other = startSession(server.url);
    await session.create('/w');
    const [data, children, unwatched] = [new Notes(), new Notes(), new Notes()];
    await session.getData('/w', { watch: data.watch });
    await session.getData('/w', { watch: unwatched.watch });
    await session.getChildren('/w', { watch: children.watch });
    session.unwatch('/w', unwatched.watch);
    await other.create('/w/x');
    await other.setData('/w', bytes('new'));
    await other.delete('/w/x');
    await other.setData('/w', bytes('newer'));
    await session.sync();
    expect([data.told, children.told]).toEqual([['changed /w'], ['children /w']]);
    expect(unwatched.told).toEqual([]);
  });

  it('that throw keep nobody else from hearing', async () => {
    const session = startSession(server.url);
    const notes = new Notes();
    const thrown: unknown[] = [];
    const catcher = (error: unknown): void => void thrown.push(error);
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', catcher);
    try {
      const watch = (): void => {
        throw new Error('a watcher');
      };
      await session.exists('/thrower', { watch });
      await session.exists('/thrower', { watch: notes.watch });
      await session.create('/thrower', { kind: 'ephemeral' });
      await notes.until(1);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of before) process.on('uncaughtException', listener);
    }
    expect(thrown).toEqual([new Error('a watcher')]);
    expect(session.state).toBe('connected');
  });
});

it('a process ends when nothing is asked, and not before it is answered', async () => {
  const script = `
      import { zookeeperClient } from './src/clients/zookeeper/client.ts';
      const session = zookeeperClient('${server.url}').start();
      const node = session.create('/of-a-process', { kind: 'ephemeral' });
      node.then(({ path }) => process.stdout.write(path));
    `;
  const args = ['--import', './scripts/sources.mjs', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('/of-a-process');
});

it('close ends the session and its nodes at once, and every request after it', async () => {
  const session = startSession(server.url);
  await session.create('/mine', { kind: 'ephemeral' });
  const last = session.exists('/mine');
  await Promise.all([session.close(), session.close()]);
  expect(await last).toBeDefined();
  await expect(session.exists('/')).rejects.toMatchObject({ code: 'CLOSED' });
  expect(await startSession(server.url).exists('/mine')).toBeUndefined();
});
