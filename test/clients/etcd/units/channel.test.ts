import { createServer } from 'node:http2';
import { expect, it, onTestFinished } from 'vitest';
import { EtcdChannel } from '../../../../src/clients/etcd/channel.ts';
import { portOf } from '../../../support/listening.ts';

it('says why a lasting stream cannot begin', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = await portOf(server);
  const endpoint = { host: '127.0.0.1', port, url: `http://127.0.0.1:${port}`, tls: undefined };
  const channel = await EtcdChannel.open(endpoint, new AbortController().signal, () => {});
  channel.retire('the connection is over');
  const received = { message: () => {}, ended: () => {} };
  const begin = () => channel.stream({ path: '/lasting', metadata: {} }, received);
  expect(begin).toThrow(/ERR_HTTP2_GOAWAY_SESSION/);
  channel.destroy('the test is over');
});
