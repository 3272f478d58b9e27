/** Documents in MongoDB, through its driver. */

import { documentsSuite } from 'holdfast/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mongodbDocuments } from '../../../src/stores/mongodb/documents.ts';
import { examined } from '../../cli/examined.ts';
import { MongodbServer } from '../../servers/mongodb-server.ts';
import { missing } from '../../servers/programs.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const why = await missing('mongodb');
beforeEach(({ skip }) => skip(why !== undefined, why));

let server: MongodbServer;
let client: MongoClient;
beforeAll(async () => {
  if (why !== undefined) return;
  server = await MongodbServer.start();
  client = new MongoClient(server.url);
});
afterAll(async () => {
  await client?.close();
  await server?.close();
});

const documents = (from = client) => mongodbDocuments(from.db('test').collection('locks'));

/** Holds replies back until the request has arrived, and then breaks the connection. */
async function losing(retryWrites: boolean) {
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
      await new Promise((resolve) => setTimeout(resolve, 300));
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
  documentsSuite({
    test,
    skip: (name, reason) => test(name, ({ skip }) => skip(reason)),
    create: () => documents(),
    has: ['remove', 'list', 'watch'],
    losing: () => losing(again),
  });
});

test('a watch goes on after the server was away', async () => {
  const one = documents();
  let told = 0;
  await one.put('away', '1', undefined);
  const watch = await one.watch?.('away', () => told++);
  await server.restart();
  const before = told;
  await until('told', async () => {
    const { version } = await one.get('away');
    await one.put('away', '2', version);
    return told > before;
  });
  await watch?.[Symbol.asyncDispose]();
});

test('a server that is not there is told as what it is', async () => {
  const proxy = await TcpProxy.start(server.port);
  proxy.close();
  const nowhere = new MongoClient(server.urlAt(proxy.port), { serverSelectionTimeoutMS: 100 });
  const put = documents(nowhere).put('a', '1', undefined);
  await expect(put).rejects.toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
  await nowhere.close();
});

test('the doctor asks the primary for its version and its clock', async () => {
  const store = server.url.replace('/?', '/test?');
  const { server: told } = await examined(store);
  expect(told?.says).toMatch(/^MongoDB \d+\.\d+\.\d+, replica set alone$/);
});
