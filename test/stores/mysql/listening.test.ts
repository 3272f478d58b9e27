/** How waiters come to hear again, once they can. */
import { test } from 'vitest';
import { LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { expectToHearAgain } from '../../methods/faults/deaf.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

test.each(PRODUCTS)('who could not listen tries again: %s', async (_, start) => {
  await using bed = new Bed(start);
  const server = await bed.server();
  const proxy = bed.use(await TcpProxy.start(server.port));
  const patient = { maxTtl: LONG_TTL_MS } as const;
  const at = { ...server, host: proxy.host, port: proxy.port };
  const store = bed.store(at, patient);
  await expectToHearAgain({ store, other: bed.store(server, patient) }, proxy);
});
