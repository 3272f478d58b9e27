import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { EtcdChannel } from '../../../../src/clients/etcd/channel.ts';

it('says why a lasting stream cannot begin', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint = { host: '127.0.0.1', port, url: `http://127.0.0.1:${port}`, tls: undefined };
  const channel = await EtcdChannel.open(endpoint, new AbortController().signal, () => {});
  channel.retire('the connection is over');
  const received = { message: () => {}, ended: () => {} };
  const begin = () => channel.stream({ path: '/lasting', metadata: {} }, received);
  expect(begin).toThrow(/ERR_HTTP2_GOAWAY_SESSION/);
  channel.destroy('the test is over');
});
