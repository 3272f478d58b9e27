/** Documents in a real Consul. */
import { documentsSuite } from 'holdfast/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { consulDocuments } from '../../../src/stores/consul/documents.ts';
import { examined } from '../../cli/examined.ts';
import { ConsulServer } from '../../servers/consul-server.ts';
import { missing } from '../../servers/programs.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const why = await missing('consul');
beforeEach(({ skip }) => skip(why !== undefined, why));

let server: ConsulServer;
beforeAll(async () => {
  if (why === undefined) server = await ConsulServer.start();
});
afterAll(() => server?.close());

describe('Consul', () => {
  documentsSuite({
    test,
    skip: (name, reason) => test(name, ({ skip }) => skip(reason)),
    create: () => consulDocuments(server.url),
    has: ['remove', 'list', 'watch'],
    async losing() {
      const proxy = await TcpProxy.start(server.port);
      return {
        documents: consulDocuments(`http://127.0.0.1:${proxy.port}`),
        losing(work) {
          proxy.toClient.set({ cutAfter: 1 });
          return work();
        },
        close: async () => proxy.close(),
      };
    },
  });
});

test('a watch goes on after the server was away', async () => {
  const one = consulDocuments(server.url);
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
  await one.close?.();
});

test('an address that is none, and too much text, are refused', async () => {
  for (const url of ['consul.local', 'ftp://a', '']) {
    expect(() => consulDocuments(url)).toThrow(/must be a URL/);
  }
  const put = consulDocuments(server.url).put('a', 'x'.repeat(600_000), undefined);
  await expect(put).rejects.toMatchObject({ code: 'USAGE' });
});

test('a server that is not there is told as what it is', async () => {
  const proxy = await TcpProxy.start(server.port);
  proxy.close();
  const put = consulDocuments(`http://127.0.0.1:${proxy.port}`).put('a', '1', undefined);
  await expect(put).rejects.toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
});

test('the doctor asks the agent for its version and its clock', async () => {
  const { server: told } = await examined(`consul://127.0.0.1:${server.port}`);
  expect(told?.says).toMatch(/^Consul 1\.\d+\.\d+\S*, an agent in dc1$/);
});
