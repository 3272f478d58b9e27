/** The fence in ZooKeeper, over connections that break, are slow, or lose what they carry. */
import type { ZookeeperEntry, ZookeeperNodes } from 'holdfast/fence';
import { beforeAll, expect, test } from 'vitest';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import type { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';
import { type Proxied, startProxied, startSession } from '../../clients/zookeeper/sessions.ts';
import { again } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { around } from './clients.ts';
import { sharedServer } from './fault-bed.ts';
import { at, dataAt, fence, LONG, textAt, writing } from './fence-bed.ts';

const server = await sharedServer();
beforeAll(async () => {
  // So that the first thing that an entry writes is the fence.
  const session = zookeeperClient(server.url).start();
  await session.create('/holdfast-fence');
  await session.close();
});

const sessionHere = (): ZookeeperSession => startSession({ servers: [server.address] }, LONG);

const proxied = (): Promise<Proxied> => startProxied(server.port, LONG);

type Fate = (write: () => Promise<unknown>) => Promise<unknown>;

/** The session, whose first write, a create or a set, meets this fate. */
function withFate(session: ZookeeperSession, fate: Fate): ZookeeperNodes {
  const fates = [fate];
  return around(session, (method, ask) => {
    const met = ['create', 'multi'].includes(method) ? fates.pop() : undefined;
    return met ? met(async () => ask()) : ask();
  });
}

async function versionOf(session: ZookeeperSession, resource: string): Promise<number> {
  return (await session.exists(`/holdfast-fence/${resource}`))?.version ?? -1;
}

/** It happens at the server, then what is said happens, and the answer never comes. */
function replyLost(
  { proxy }: Proxied,
  resource: string,
  meanwhile: () => Promise<unknown> = async () => {},
): Fate {
  return async (write) => {
    const other = sessionHere();
    const before = await versionOf(other, resource);
    proxy.toClient.set({ flow: 'swallow' });
    const written = write();
    written.catch(() => {});
    await until('written', async () => (await versionOf(other, resource)) > before);
    await meanwhile();
    proxy.reset();
    proxy.toClient.set();
    return written;
  };
}

/** It comes to the server when what is said has happened. */
function late({ proxy }: Proxied, meanwhile: () => Promise<unknown>): Fate {
  return async (write) => {
    proxy.toServer.set({ flow: 'hold' });
    const written = write();
    await meanwhile();
    proxy.toServer.set();
    return written;
  };
}

test('an entry whose reply is lost is made again, be it the first or not', async () => {
  const bed = await proxied();
  const session = await dataAt(sessionHere(), '/m');
  for (const token of [33n, 34n]) {
    const before = await versionOf(session, 'm');
    const nodes = withFate(bed.session, replyLost(bed, 'm'));
    const entry = await fence.enter(nodes, { ...at('m'), token });
    // The lost one, and the one that counts.
    expect(entry.check).toMatchObject([{ version: before + 2 }]);
    await entry.write(writing('/m', `${token}`));
  }
  expect(await textAt(session, '/m')).toBe('34');
});

test('a newer holder that came in meanwhile is found', async () => {
  const bed = await proxied();
  const newer = (token: bigint) => () => fence.enter(sessionHere(), { ...at('o'), token });
  await newer(1n)();
  const stale = { code: 'STALE_TOKEN', token: 33n, seen: 34n };
  const lost = withFate(bed.session, replyLost(bed, 'o', newer(34n)));
  await expect(fence.enter(lost, { ...at('o'), token: 33n })).rejects.toMatchObject(stale);
  const held = withFate(bed.session, late(bed, newer(36n)));
  await expect(fence.enter(held, { ...at('o'), token: 35n })).rejects.toMatchObject({
    ...{ token: 35n, seen: 36n },
  });
});

test('an older holder that came in meanwhile is put out', async () => {
  const bed = await proxied();
  const session = await dataAt(sessionHere(), '/p');
  let older: ZookeeperEntry | undefined;
  const nodes = withFate(
    bed.session,
    late(bed, async () => {
      older = await fence.enter(session, { ...at('p'), token: 33n });
    }),
  );
  const entry = await fence.enter(nodes, { ...at('p'), token: 34n });
  await expect(older?.write(writing('/p', 'late'))).rejects.toMatchObject({ seen: 34n });
  await entry.write(writing('/p', 'on time'));
});

test('a write that is still on its way arrives no more once its holder has entered', async () => {
  const { proxy, session } = await proxied();
  const other = await dataAt(sessionHere(), '/q', 10);
  const before = await fence.enter(session, { ...at('q'), token: 33n });
  const { reached } = proxy.toServer;
  proxy.toServer.set({ flow: 'hold' });
  // No answer can come, so any time will do.
  const late = before.write(writing('/q', 9), { timeoutMs: 100 });
  await expect(late).rejects.toMatchObject({ code: 'STORE', outcome: 'unknown' });
  await until('sent', async () => proxy.toServer.reached > reached);
  const after = await fence.enter(other, { ...at('q'), token: 33n });
  expect(await textAt(other, '/q')).toBe('10');
  proxy.set();
  // Behind what was late.
  await session.exists('/');
  expect(await textAt(other, '/q')).toBe('10');
  await after.write(writing('/q', 9));
});

test('who was refused is told so, also if who came in cannot be asked for', async () => {
  const own = sessionHere();
  const session = await dataAt(sessionHere(), '/r');
  const entry = await fence.enter(own, { ...at('r'), token: 33n });
  await fence.enter(session, { ...at('r'), token: 34n });
  // The session ends with the answer, before anything more can be asked.
  const late = entry.write(writing('/r', 'late'));
  const closed = own.close();
  await expect(late).rejects.toMatchObject({ code: 'STALE_TOKEN', token: 33n });
  await closed;
});

test('again and again, at any byte: each holder adds one, none twice', async () => {
  const { proxy, session } = await proxied();
  await dataAt(sessionHere(), '/sum', 0);
  const addOne = (token: bigint): Promise<void> => {
    let before: number | undefined;
    return again(async () => {
      const entry = await fence.enter(session, { ...at('sum'), token });
      const sum = Number(await textAt(session, '/sum'));
      before ??= sum;
      if (sum === before) await entry.write(writing('/sum', sum + 1));
    });
  };
  for (let wave = 0; wave < 30; wave += 1) {
    const direction = wave % 2 === 0 ? proxy.toClient : proxy.toServer;
    direction.set({ cutAfter: 1 + wave * 23 });
    await addOne(BigInt(wave + 1));
    proxy.set();
  }
  expect(await textAt(session, '/sum')).toBe('30');
});

test('an end comes when no server can be reached', async () => {
  const session = startSession({ servers: ['127.0.0.1:1'] }, 500);
  await expect(fence.enter(session, { ...at('s'), token: 1n })).rejects.toMatchObject({
    ...{ code: 'STORE', reason: 'OPERATIONTIMEOUT', retryable: true },
    message: expect.stringContaining('ECONNREFUSED'),
  });
});
