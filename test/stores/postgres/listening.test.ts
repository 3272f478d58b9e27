/** How waiters come to hear again, once they can. */
import { test } from 'vitest';
import { expectToHearAgain } from '../../methods/faults/deaf.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { Bed, CLIENTS } from './bed.ts';

test.each(CLIENTS)('who could not listen tries again: %s', async (client) => {
  await using bed = new Bed();
  const server = await bed.server();
  const proxy = bed.use(await TcpProxy.start(server.port));
  const url = new URL(server.url);
  url.port = String(proxy.port);
  const store = bed.store({ url: url.href }, { client });
  await expectToHearAgain({ store, other: bed.store(server) }, proxy);
});
