/** Records of work that is done, when the network loses what is said of them, or is late. */
import type { Store } from 'holdfast';
import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { type Bed, claimOf, LONG_TTL_MS } from './bed.ts';

const MINUTE_MS = 60_000;

export type Keeping = Required<Pick<Store, 'keep' | 'recall'>> & Store;

/** Each has a record of its own, and none is listed. */
export async function expectOwnRecords(store: Keeping, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const claim = claimOf(name);
    expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
    expect(await store.keep(claim, { text: name, ms: MINUTE_MS })).toBe(true);
    await store.release([claim]);
  }
  for (const name of names) expect((await store.recall(name))?.text).toBe(name);
  for await (const name of store.list?.('') ?? []) expect.unreachable(name);
}

export function recordFaults(newBed: () => Bed): void {
  const patient = { maxTtl: LONG_TTL_MS };

  test.concurrent('a record whose answer is lost is there, and may be kept again', async () => {
    await using bed = newBed();
    const { server, proxy } = await bed.behindProxy();
    const [store, other] = [proxy, server].map((at) => bed.store(at, patient)) as Keeping[];
    const claim = claimOf('answer lost');
    expect(await store!.claim([claim])).toMatchObject([{ state: 'held' }]);
    const record = { text: 'done', ms: MINUTE_MS };
    // What it needs once is there then.
    expect(await store!.keep(claim, { ...record, text: 'begun' })).toBe(true);
    proxy.toClient.set({ flow: 'swallow' });
    const asked = store!.keep(claim, record).catch((error: unknown) => error);
    const textThere = async () => (await other!.recall(claim.resource))?.text;
    await until('was it kept', async () => (await textThere()) === 'done');
    proxy.set();
    proxy.reset();
    expect(await asked).toMatchObject({ code: 'STORE', retryable: true, outcome: 'unknown' });
    const again = async () => store!.keep(claim, record).catch(() => undefined);
    await until('was it kept again', async () => (await again()) === true);
    expect(await textThere()).toBe('done');
    expect(await store!.renew([claim])).toMatchObject([{ state: 'held' }]);
  });

  test.concurrent('a record that comes after its claim has gone is not kept', async () => {
    await using bed = newBed();
    const { server, proxy } = await bed.behindProxy();
    const [slow, fast] = [proxy, server].map((at) => bed.store(at, patient)) as Keeping[];
    const [claim, next] = [claimOf('overtaken record'), claimOf('overtaken record')];
    expect(await slow!.claim([claim])).toMatchObject([{ state: 'held' }]);
    const record = { text: 'first', ms: MINUTE_MS };
    expect(await slow!.keep(claim, record)).toBe(true);
    proxy.toServer.set({ flow: 'hold' });
    const late = slow!.keep(claim, { ...record, text: 'late' });
    expect(await fast!.release([claim])).toEqual([true]);
    expect(await fast!.claim([next])).toMatchObject([{ state: 'held' }]);
    expect(await fast!.keep(next, { ...record, text: 'second' })).toBe(true);
    proxy.set();
    expect(await late).toBe(false);
    expect(await fast!.recall(claim.resource)).toMatchObject({ text: 'second' });
  });
}
