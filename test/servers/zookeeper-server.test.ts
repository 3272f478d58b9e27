import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { startSession, untilState } from '../clients/zookeeper/sessions.ts';
import { until } from '../support/until.ts';
import { startZookeeper } from './zookeeper-server.ts';

const server = await startZookeeper();
afterAll(() => server.close());

it('is a ZooKeeper 3.8 that answers its commands', async () => {
  expect(await server.fourLetters('srvr')).toMatch(/^Zookeeper version: 3\.8\./);
  expect(await server.fourLetters('mntr')).toMatch(/^zk_server_state\tstandalone$/m);
  expect(await server.fourLetters('ruok')).toBe('imok');
  expect(await server.mode()).toBe('standalone');
});

it('keeps its port and its data when it is killed', async () => {
  const session = startSession(server.url);
  await session.create('/kept', { data: Buffer.from('x') });
  const { pid, port } = server;
  await server.restart();
  expect(server.pid).not.toBe(pid);
  expect(server.port).toBe(port);
  expect((await startSession(server.url).getData('/kept')).data.toString()).toBe('x');
});

it('stands still without closing connections', async () => {
  const socket = connect({ port: server.port, host: server.host });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  server.pause();
  socket.write('ruok');
  const answer = once(socket, 'data');
  const first = await Promise.race([
    answer.then(() => 'answered'),
    // Long enough for an answer, if there were one.
    new Promise((resolve) => setTimeout(() => resolve('silent'), 200)),
  ]);
  server.resume();
  expect(first).toBe('silent');
  expect(String((await answer)[0])).toBe('imok');
});

it("ends any client's session", async () => {
  const session = startSession({ servers: [server.address], sessionTimeout: '30s' });
  await session.create('/ends', { kind: 'ephemeral' });
  await server.endSession(session.id);
  await untilState(session, 'expired');
  expect(await startSession(server.url).exists('/ends')).toBeUndefined();
});

it('starts with counters, which stop at the largest number', async () => {
  const counters = { '/full/a': 2 ** 31 - 3, '/b': -(2 ** 31) };
  const full = await startZookeeper({ counters });
  onTestFinished(() => full.close());
  const session = startSession(full.url);
  const numbers = async (parent: string): Promise<string[]> => {
    const made: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      const { path } = await session.create(`${parent}/${n}_`, { kind: 'ephemeral-sequential' });
      made.push(path.slice(parent.length + 1));
    }
    return made;
  };
  expect(await numbers('/full/a')).toEqual([
    ...['1_2147483645', '2_2147483646', '3_2147483647', '4_2147483647', '5_2147483647'],
  ]);
  expect(await numbers('/b')).toEqual([
    ...['1_-2147483648', '2_-2147483647', '3_-2147483646', '4_-2147483645', '5_-2147483644'],
  ]);
  // Twice the counter, less the children, and then no more than the lower 32 bits.
  expect((await session.getChildren('/full/a')).stat).toMatchObject({ cversion: -2 - 5 });
  expect((await session.getChildren('/full')).stat).toMatchObject({ cversion: 1 });
});
