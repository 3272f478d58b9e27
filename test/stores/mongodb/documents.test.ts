/** Documents in MongoDB, through its driver. */
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { mongodbDocuments } from '../../../src/stores/mongodb/documents.ts';
import { examined } from '../../cli/examined.ts';
import { MongodbServer } from '../../servers/mongodb-server.ts';
import { missing } from '../../servers/programs.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { PACE } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { absenceIsTold, documentsTests, sharedServer, watchesGoOn } from '../document/service.ts';

const shared = sharedServer(await missing('mongodb'), async () => {
  const server = await MongodbServer.start();
  const client = new MongoClient(server.url);
  return { server, client, close: () => client.close().then(() => server.close()) };
});

const documents = (from = shared().client) => mongodbDocuments(from.db('test').collection('locks'));

/** Holds replies back until the request has arrived, and then breaks the connection. */
async function losing(retryWrites: boolean) {
  const { server } = shared();
  const proxy = await TcpProxy.start(server.port);
  const through = new MongoClient(server.urlAt(proxy.port), {
    ...{ retryWrites, serverSelectionTimeoutMS: 10_000 },
    // It asks how the server is as seldom as can be: those replies are not the ones to be lost.
    heartbeatFrequencyMS: 60_000,
  });
  return {
    documents: documents(through),
    async losing<T>(work: () => Promise<T>): Promise<T> {
      const before = proxy.toServer.reached;
      proxy.toClient.set({ flow: 'hold' });
      const done = work();
      done.catch(() => {});
      await until('arrived', async () => proxy.toServer.reached > before);
      // For the server to carry it out, on a disk.
      await new Promise((resolve) => setTimeout(resolve, 300 * PACE));
      proxy.reset();
      proxy.set();
      return done;
    },
    async close() {
      await through.close();
      proxy.close();
    },
  };
}

describe.each([true, false])('MongoDB, whose driver writes again: %s', (again) => {
  documentsTests({
    create: () => documents(),
    has: ['remove', 'list', 'watch'],
    losing: () => losing(again),
  });
});

watchesGoOn(documents, () => shared().server.restart());

test('a watch is open before the server has waited for a first change', async () => {
  const client = new MongoClient(shared().server.url, { monitorCommands: true });
  const replies: string[] = [];
  client.on('commandSucceeded', ({ commandName }) => replies.push(commandName));
  const quiet = documents(client);
  await quiet.put('quiet', '1', undefined);
  const watch = await quiet.watch?.('quiet', () => {});
  expect(replies).toContain('aggregate');
  expect(replies).not.toContain('getMore');
  await watch?.[Symbol.asyncDispose]();
  await quiet.close?.();
  await client.close();
});

absenceIsTold(
  () => shared().server.port,
  (port) => {
    const url = shared().server.urlAt(port);
    const nowhere = new MongoClient(url, { serverSelectionTimeoutMS: 100 });
    return { ...documents(nowhere), close: () => nowhere.close() };
  },
);

test('the doctor asks the primary for its version and its clock', async () => {
  const store = shared().server.url.replace('/?', '/test?');
  const { server: told } = await examined(store);
  expect(told?.says).toMatch(/^MongoDB \d+\.\d+\.\d+, replica set alone$/);
});
