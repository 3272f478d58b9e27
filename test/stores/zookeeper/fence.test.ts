/** The fence where the guarded data is in ZooKeeper. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isLockError } from 'holdfast';
import { type EnterToken, type ZookeeperEntry, zookeeperFence } from 'holdfast/fence';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startSession } from '../../clients/zookeeper/sessions.ts';
import { changesAtOnce } from '../../fences/at-once.ts';
import {
  javaProgram,
  startZookeeper,
  type ZookeeperServer,
} from '../../servers/zookeeper-server.ts';
import { at, bytes, fence, sessionsOn, textAt, writing } from './fence-bed.ts';

let server: ZookeeperServer;
beforeAll(async () => {
  server = await startZookeeper();
});
afterAll(() => server?.close());

const { sessionHere, dataAt } = sessionsOn(() => server);

test('the newest holder passes, an older one never again', async () => {
  const session = sessionHere();
  await fence.enter(session, { ...at('a'), token: 33n });
  await fence.enter(session, { ...at('a'), token: 33n });
  await fence.enter(session, { ...at('a'), token: '34' });
  await expect(fence.enter(session, { ...at('a'), token: 33n })).rejects.toMatchObject({
    ...{ code: 'STALE_TOKEN', resource: 'a', token: 33n, seen: 34n },
  });
  await fence.enter(session, { ...at('a'), token: 34n });
  expect(JSON.parse(await textAt(session, '/holdfast-fence/a'))).toEqual({
    ...{ lineage: 'one', token: '34', floor: '0' },
  });
});

test('whoever entered before writes no more', async () => {
  const session = await dataAt('/b');
  const older = await fence.enter(session, { ...at('b'), token: 33n });
  await older.write(writing('/b', 'older'));
  const newer = await fence.enter(session, { ...at('b'), token: 34n });
  // It has only read as yet.
  expect(await textAt(session, '/b')).toBe('older');
  const refused = { code: 'STALE_TOKEN', token: 33n, seen: 34n };
  await expect(older.write(writing('/b', 'late'))).rejects.toMatchObject(refused);
  expect(await textAt(session, '/b')).toBe('older');
  await newer.write(writing('/b', 'newer'));
  expect(await textAt(session, '/b')).toBe('newer');
});

test('a holder that enters anew is safe from its own earlier writes', async () => {
  const session = await dataAt('/c');
  const before = await fence.enter(session, { ...at('c'), token: 33n });
  const after = await fence.enter(session, { ...at('c'), token: 33n });
  await expect(before.write(writing('/c', 'late'))).rejects.toThrow(/entered again/);
  await after.write(writing('/c', 'on time'));
});

test("the caller's own steps are answered and refused by their own numbers", async () => {
  const session = await dataAt('/d');
  const entry = await fence.enter(session, { ...at('d'), token: 33n });
  const [made, set] = await entry.write([{ step: 'create', path: '/d/1' }, ...writing('/d', 1)]);
  expect([made, set]).toMatchObject([{ path: '/d/1' }, { version: 1 }]);
  const version = { reason: 'BADVERSION', step: 0, outcome: 'failed', retryable: true };
  const check = { step: 'check', path: '/d', version: 0 } as const;
  await expect(entry.write([check])).rejects.toMatchObject(version);
  const twice = [...writing('/d', 2), { step: 'create', path: '/d/1' } as const];
  await expect(entry.write(twice)).rejects.toMatchObject({ reason: 'NODEEXISTS', step: 1 });
  await expect(entry.write([{ step: 'delete', path: '/d/2' }])).rejects.toMatchObject({
    ...{ reason: 'NONODE', step: 0 },
  });
  expect(await textAt(session, '/d')).toBe('1');
  // A check alone asks whether the entry is still in force.
  expect(await entry.write([])).toEqual([]);
});

test('writers stay behind readers, and readers behind writers', async () => {
  const session = await dataAt('/e');
  const read = (token: bigint) => fence.enter(session, { ...at('e'), token, kind: 'read' });
  const write = (token: bigint) => fence.enter(session, { ...at('e'), token, kind: 'write' });
  const first = await write(5n);
  await read(7n);
  expect((await read(6n)).check).toEqual([]);
  await expect(first.write(writing('/e', 'late'))).rejects.toMatchObject({ seen: 7n });
  await expect(write(6n)).rejects.toMatchObject({ seen: 7n });
  await write(8n);
  const late = expect.objectContaining({ code: 'STALE_TOKEN', seen: 8n });
  await expect(read(7n)).rejects.toEqual(late);
  const reader = await read(9n);
  await expect(write(8n)).rejects.toMatchObject({ seen: 9n });
  // Nothing would keep what it writes from coming late.
  await expect(reader.write(writing('/e', 'x'))).rejects.toMatchObject({ code: 'USAGE' });
  // What is no write of the lock's goes its way.
  expect(await reader.write([{ step: 'check', path: '/e' }])).toEqual([undefined]);
  await expect(reader.write([{ step: 'check', path: '/e', version: 7 }])).rejects.toMatchObject({
    ...{ reason: 'BADVERSION', step: 0 },
  });
});

test('another lineage is refused until an operator adopts it', async () => {
  const session = await dataAt('/f');
  const [one, two] = [at('f'), { ...at('f'), lineage: 'two' }];
  const entry = await fence.enter(session, { ...one, token: 34n });
  await expect(fence.enter(session, { ...two, token: 99n })).rejects.toThrow(/another store, one;/);
  await fence.adopt(session, { ...two, token: 1n });
  await expect(entry.write(writing('/f', ''))).rejects.toThrow(/another store, two;/);
  await fence.enter(session, { ...two, token: 1n });
  await expect(fence.enter(session, { ...one, token: 99n })).rejects.toThrow(/another store, two;/);
  await fence.adopt(session, { ...two, resource: 'first', token: 7n });
  await expect(fence.enter(session, { ...two, resource: 'first', token: 6n })).rejects.toThrow();
});

test('resources are told apart byte by byte; nobody writes behind a deleted fence', async () => {
  const session = await dataAt('/g');
  const names = [
    'g',
    'G',
    'g ',
    'g\0',
    'g/h',
    'g%2Fh',
    '.',
    '..',
    '%',
    '\u{1f512}',
    'ß'.repeat(256),
  ];
  for (const name of names) await fence.enter(session, { ...at(name), token: 5n });
  for (const name of names) {
    const older = { ...at(name), token: 4n };
    await expect(fence.enter(session, older)).rejects.toMatchObject({ seen: 5n });
  }
  const entry = await fence.enter(session, { ...at('g'), token: 5n });
  await session.delete('/holdfast-fence/g');
  await expect(entry.write(writing('/g', 'late'))).rejects.toThrow(/node of the fence was deleted/);
});

test('what is no lease, no fence or no path is refused', async () => {
  const session = sessionHere();
  for (const token of [0n, -1n, '', '0x10', 2n ** 63n, 5 as unknown as bigint]) {
    await expect(fence.enter(session, { ...at('h'), token })).rejects.toThrow(/fencing token/);
  }
  const permits: EnterToken = { ...at('h'), token: 1n, kind: 'permits' };
  await expect(fence.enter(session, permits)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  const lease = { ...at('h'), token: 1n };
  const mine = zookeeperFence({ path: '/mine' });
  await mine.enter(session, lease);
  for (const text of ['no JSON', '{}', '{"lineage":"one"}', '{"lineage":"one","token":"x"}']) {
    await session.setData('/mine/h', bytes(text));
    await expect(mine.enter(session, lease)).rejects.toThrow(/'\/mine\/h' is not a fence/);
  }
  await mine.adopt(session, lease);
  await mine.enter(session, lease);
  const usage = expect.objectContaining({ code: 'USAGE' });
  expect(zookeeperFence({ path: '/zookeepers' })).toBeDefined();
  for (const path of [
    '/zookeeper',
    '/zookeeper/a',
    '',
    '/',
    'mine',
    '/mine/',
    '/a//b',
    '/..',
    '/\0',
    '/\ud800',
    1,
    1n,
    null,
  ]) {
    expect(() => zookeeperFence({ path } as object)).toThrow(usage);
  }
  expect(() => zookeeperFence({ prefix: '/mine' } as object)).toThrow(/no option "prefix"/);
});

test('what is above the fences is made by whoever comes first, and stays', async () => {
  const deep = zookeeperFence({ path: '/deep/down/fences' });
  const tokens = Array.from({ length: 10 }, (_, n) => BigInt(n + 1));
  const outcomes = await Promise.allSettled(
    tokens.map((token) => deep.enter(sessionHere(), { ...at('i'), token })),
  );
  for (const outcome of outcomes.slice(0, -1)) {
    if (outcome.status === 'rejected')
      expect(isLockError(outcome.reason, 'STALE_TOKEN')).toBe(true);
  }
  expect(outcomes.at(-1)?.status).toBe('fulfilled');
  expect(await sessionHere().exists('/deep/down/fences/i')).toMatchObject({ session: 0n });
  // Nothing is made where the client's own root is missing.
  const nowhere = startSession(`${server.url}/nowhere`);
  await expect(deep.enter(nowhere, { ...at('i'), token: 1n })).rejects.toMatchObject({
    ...{ code: 'STORE', reason: 'NONODE' },
  });
});

test('who may not write a fence is told so', async () => {
  const auth = { scheme: 'digest', auth: 'me:secret' };
  const own = startSession({ servers: [server.address], auth });
  const closed = zookeeperFence({ path: '/closed' });
  const entry = await closed.enter(own, { ...at('j'), token: 1n });
  const stranger = await dataAt('/j');
  const refused = { code: 'STORE', reason: 'NOAUTH', outcome: 'failed' };
  await expect(closed.enter(stranger, { ...at('j'), token: 1n })).rejects.toMatchObject(refused);
  await expect(closed.enter(stranger, { ...at('k'), token: 1n })).rejects.toMatchObject(refused);
  const steps = [...entry.check, ...writing('/j', 'x')];
  await expect(stranger.multi(steps)).rejects.toMatchObject(refused);
  await entry.write(writing('/j', 'x'));
});

test('its check serves every client', async () => {
  const session = await dataAt('/l');
  const entry = await fence.enter(session, { ...at('l'), token: 33n });
  const other = sessionHere();
  await other.multi([...entry.check, ...writing('/l', '1')]);
  await fence.enter(session, { ...at('l'), token: 34n });
  const late = other.multi([...entry.check, ...writing('/l', '2')]);
  await expect(late).rejects.toMatchObject({ reason: 'BADVERSION', step: 0 });
  expect(await textAt(session, '/l')).toBe('1');
});

test('holders at once lose no update', async () => {
  const session = await dataAt('/stock', 100);
  const sold = await changesAtOnce(30, async (token) => {
    const own = sessionHere();
    const entry = await fence.enter(own, { ...at('stock'), token });
    const left = Number(await textAt(own, '/stock'));
    await entry.write(writing('/stock', left - 1));
  });
  expect(await textAt(session, '/stock')).toBe(`${100 - sold}`);
});

test('no entry has the version that would be checked as any', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = fileURLToPath(new URL('children/worn-node.java', import.meta.url));
  const nodes = ['/holdfast-fence', '/holdfast-fence/worn'];
  const [program = '', ...args] = await javaProgram(file, folder, ...nodes, '-3');
  await promisify(execFile)(program, args);
  const worn = await startZookeeper({ config: [`dataDir=${folder}`] });
  onTestFinished(() => worn.close());
  const session = startSession(worn.url);
  await session.create('/worn');
  await fence.adopt(session, { ...at('worn'), token: 1n });
  const entries: ZookeeperEntry[] = [];
  for (const token of [1n, 2n, 3n]) {
    entries.push(await fence.enter(session, { ...at('worn'), token }));
  }
  expect(entries.map(({ check }) => check[0]?.version)).toEqual([0, 1, 2]);
  const [first, , last] = entries;
  await expect(first?.write(writing('/worn', 'late'))).rejects.toMatchObject({ seen: 3n });
  await last?.write(writing('/worn', 'on time'));
});
