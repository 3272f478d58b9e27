/** A process that could not listen hears again without another claim of its own. */
import type { Store } from 'holdfast';
import { test } from 'vitest';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { type Bed, claimOf, LONG_TTL_MS, type Place, type StoreOptions } from './bed.ts';

/** For each way to connect, by name. */
export function hearing<Options extends StoreOptions, At extends Place>(
  newBed: () => Bed<Options, At>,
  clients: Readonly<Record<string, Options>>,
): void {
  test.concurrent.each(Object.entries(clients))('tries again: %s', async (_, options) => {
    await using bed = newBed();
    const server = await bed.server();
    const proxy = bed.use(await TcpProxy.start(server.port));
    const patient = { ...options, maxTtl: LONG_TTL_MS };
    const [store, other] = [bed.store(proxy, patient), bed.store(server, patient)];
    await expectToHearAgain({ store, other }, proxy);
  });
}

/** `store` reaches the server through the proxy, `other` does not. No claim has heartbeats. */
export async function expectToHearAgain(
  { store, other }: { readonly store: Store; readonly other: Store },
  proxy: TcpProxy,
): Promise<void> {
  const [holds, waits, last] = [claimOf('a'), claimOf('a'), claimOf('a')];
  // Its connection for claims stays.
  await store.claim([claimOf('b')]);
  await other.claim([holds]);
  proxy.refuse();
  const told = { waits: 0, last: 0 };
  await store.watch?.(waits, () => told.waits++);
  await store.watch?.(last, () => told.last++);
  await store.claim([waits]);
  await store.claim([last]);
  // Nobody hears of this.
  await other.release([holds]);
  await proxy.accept();
  await until('were both woken', async () => told.waits > 0 && told.last > 0);
  told.last = 0;
  await other.release([waits]);
  await until('did a message come', async () => told.last > 0);
}
