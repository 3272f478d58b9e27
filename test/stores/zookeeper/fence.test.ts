/** The fence where the guarded data is in ZooKeeper. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isLockError } from 'holdfast';
import { type ZookeeperEntry, zookeeperFence } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { expect, test } from 'vitest';
import { nodeName } from '../../../src/clients/zookeeper/paths.ts';
import type { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';
import { startSession } from '../../clients/zookeeper/sessions.ts';
import { javaProgram, startZookeeper } from '../../servers/zookeeper-server.ts';
import { closing } from '../../support/closing.ts';
import { directory } from '../../support/directory.ts';
import { sharedServer } from './fault-bed.ts';
import { at, bytes, dataAt, fence, LONG, textAt, writing } from './fence-bed.ts';

const server = await sharedServer();

const sessionHere = (): ZookeeperSession => startSession({ servers: [server.address] }, LONG);

async function fixtureFor(resource: string): Promise<FenceFixture> {
  const path = `/${nodeName(resource)}`;
  const session = await dataAt(sessionHere(), path, 0);
  const look = async (): Promise<number> => Number(await textAt(session, path));
  return {
    look,
    adopt: (lease) => fence.adopt(session, lease),
    async enter(lease) {
      const entry = await fence.enter(session, lease);
      return { read: look, write: async (n) => void (await entry.write(writing(path, n))) };
    },
  };
}

fenceConformance({ test, create: fixtureFor });

test('a holder that enters anew is safe from its own earlier writes', async () => {
  const session = await dataAt(sessionHere(), '/c');
  const before = await fence.enter(session, { ...at('c'), token: 33n });
  const after = await fence.enter(session, { ...at('c'), token: '33' });
  expect(JSON.parse(await textAt(session, '/holdfast-fence/c'))).toEqual({
    ...{ lineage: 'one', token: '33', floor: '0' },
  });
  await expect(before.write(writing('/c', 'late'))).rejects.toThrow(/entered again/);
  await after.write(writing('/c', 'on time'));
});

test("the caller's own steps are answered and refused by their own numbers", async () => {
  const session = await dataAt(sessionHere(), '/d');
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

test('a reader writes nothing, and what is no write of the lock goes its way', async () => {
  const session = await dataAt(sessionHere(), '/e');
  const read = (token: bigint) => fence.enter(session, { ...at('e'), token, kind: 'read' });
  const reader = await read(9n);
  expect((await read(8n)).check).toEqual([]);
  // Nothing would keep what it writes from coming late.
  await expect(reader.write(writing('/e', 'x'))).rejects.toMatchObject({ code: 'USAGE' });
  expect(await reader.write([{ step: 'check', path: '/e' }])).toEqual([undefined]);
  await expect(reader.write([{ step: 'check', path: '/e', version: 7 }])).rejects.toMatchObject({
    ...{ reason: 'BADVERSION', step: 0 },
  });
});

test('resources are told apart byte by byte; nobody writes behind a deleted fence', async () => {
  const session = await dataAt(sessionHere(), '/g');
  const names = [
    ...['g', 'G', 'g ', 'g\0', 'g/h', 'g%2Fh', '.'],
    ...['..', '%', '\u{1f512}', 'ß'.repeat(256)],
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
  await expect(fence.enter(session, { ...at('h'), token: 0n })).rejects.toThrow(/fencing token/);
  const lease = { ...at('h'), token: 1n };
  const mine = zookeeperFence({ path: '/mine' });
  await mine.enter(session, lease);
  for (const text of ['no JSON', '{}', '{"lineage":"one"}', '{"lineage":"one","token":"x"}']) {
    await session.setData('/mine/h', bytes(text));
    await expect(mine.enter(session, lease)).rejects.toThrow(/'\/mine\/h' is not a fence/);
  }
  await mine.adopt(session, lease);
  await mine.enter(session, lease);
  await mine.adopt(session, { ...at('first'), token: 7n });
  await expect(mine.enter(session, { ...at('first'), token: 6n })).rejects.toThrow();
  const usage = expect.objectContaining({ code: 'USAGE' });
  expect(zookeeperFence({ path: '/zookeepers' })).toBeDefined();
  for (const path of [
    ...['/zookeeper', '/zookeeper/a', '', '/', 'mine', '/mine/'],
    ...['/a//b', '/..', '/\0', '/\ud800', 1, 1n, null],
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
  const stranger = await dataAt(sessionHere(), '/j');
  const refused = { code: 'STORE', reason: 'NOAUTH', outcome: 'failed' };
  await expect(closed.enter(stranger, { ...at('j'), token: 1n })).rejects.toMatchObject(refused);
  await expect(closed.enter(stranger, { ...at('k'), token: 1n })).rejects.toMatchObject(refused);
  const steps = [...entry.check, ...writing('/j', 'x')];
  await expect(stranger.multi(steps)).rejects.toMatchObject(refused);
  await entry.write(writing('/j', 'x'));
});

test('its check serves every client', async () => {
  const session = await dataAt(sessionHere(), '/l');
  const entry = await fence.enter(session, { ...at('l'), token: 33n });
  const other = sessionHere();
  await other.multi([...entry.check, ...writing('/l', '1')]);
  await fence.enter(session, { ...at('l'), token: 34n });
  const late = other.multi([...entry.check, ...writing('/l', '2')]);
  await expect(late).rejects.toMatchObject({ reason: 'BADVERSION', step: 0 });
  expect(await textAt(session, '/l')).toBe('1');
});

test('no entry has the version that would be checked as any', async () => {
  const folder = directory();
  const file = fileURLToPath(new URL('children/worn-node.java', import.meta.url));
  const nodes = ['/holdfast-fence', '/holdfast-fence/worn'];
  const [program = '', ...args] = await javaProgram(file, folder, ...nodes, '-3');
  await promisify(execFile)(program, args);
  const worn = closing(await startZookeeper({ config: [`dataDir=${folder}`] }));
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
