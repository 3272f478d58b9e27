/** How waiters come to hear again, once they can. */
import { expect, test } from 'vitest';
import { claimOf, LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { expectToHearAgain } from '../../methods/faults/deaf.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { Bed, type ClientName } from './bed.ts';

const CLIENTS: readonly ClientName[] = ['ioredis', 'node-redis'];
const patient = { maxTtl: LONG_TTL_MS } as const;

test.each(CLIENTS)('who could not listen tries again: %s', async (client) => {
  await using bed = new Bed();
  const server = await bed.server();
  const proxy = bed.use(await TcpProxy.start(server.port));
  const store = bed.store(proxy, { client, ...patient });
  await expectToHearAgain({ store, other: bed.store(server, patient) }, proxy);
});

test.each(CLIENTS)(
  'where an address leads elsewhere, listeners move as commands do: %s',
  async (client) => {
    await using bed = new Bed();
    const [former, next] = [await bed.server(), await bed.server()];
    const proxy = bed.use(await TcpProxy.start(former.port));
    const store = bed.store(proxy, { client, afterDataLoss: 'trust', ...patient });
    const [holds, waits] = [claimOf('a'), claimOf('a')];
    await store.claim([holds]);
    let told = 0;
    await store.watch?.(waits, () => told++);
    await store.claim([waits]);
    const [channel = ''] = (await former.command('PUBSUB', 'CHANNELS')) as string[];
    proxy.lead(next.port);
    // The old server lives on, cut off and without writes.
    await former.command('REPLICAOF', '127.0.0.1', 1);
    told = 0;
    await expect(store.renew([waits])).rejects.toMatchObject({ code: 'STORE' });
    await until('do commands arrive', async () => (await store.renew([waits])).length === 1);
    await until('was it woken', async () => told > 0);
    expect(await next.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 1]);
  },
);
