/** Records of work that is done, as nodes: what is written, and what becomes of the dead. */
import type { Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { type ZookeeperClient, zookeeperClient } from 'holdfast/zookeeper';
import { expect } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { claimOf, inTurn } from '../../methods/faults/bed.ts';
import { expectOwnRecords, type Keeping } from '../../methods/faults/records.ts';
import { until } from '../../support/until.ts';
import { counting, striking } from './clients.ts';
import { Bed as AnyBed, sharedServer } from './fault-bed.ts';

const HOUR_MS = 3_600_000;
const RECORD = { text: 'done', ms: HOUR_MS };

const server = await sharedServer();

const inBed = inTurn(() => new Bed());

class Bed extends AnyBed {
  constructor() {
    super(server);
  }

  keeping(client: ZookeeperClient = zookeeperClient(server.url), random = Math.random): Keeping {
    return this.storeOf(client, { ...systemClock(), random }) as Keeping;
  }

  /** A node beside the record of this resource, by default one that is over. */
  async beside(resource: string, name: string, data = '1 0 past'): Promise<string> {
    const path = `${this.tree.recordsBeside(resource)}/${name}`;
    await this.looking.create(path, { data: Buffer.from(data) });
    return path;
  }
}

async function held(store: Store, resource: string): Promise<Claim> {
  const claim = claimOf(resource);
  expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
  return claim;
}

/** It always clears up, or never. */
const always = (): number => 0;
const never = (): number => 0.999;

inBed('who keeps something takes away what is over beside it, and nothing else', async (bed) => {
  const store = bed.keeping(undefined, always);
  const claim = await held(store, 'work');
  expect(await store.keep(claim, RECORD)).toBe(true);
  const paths = await Promise.all(['a', 'b', 'c'].map((name) => bed.beside('work', name)));
  const odd = await bed.beside('work', 'odd', `1 ${HOUR_MS} alive`);
  await until('were they gone', async () => {
    expect(await store.keep(claim, RECORD)).toBe(true);
    const stats = await Promise.all(paths.map((path) => bed.looking.exists(path)));
    return stats.every((stat) => stat === undefined);
  });
  expect(await bed.looking.exists(odd)).toBeDefined();
  expect((await store.recall('work'))?.text).toBe('done');
});

inBed('a deletion that comes late does not meet a new record of that name', async (bed) => {
  const { client, strike } = striking(zookeeperClient(server.url));
  const counted = counting(client);
  // Whoever clears up from the beginning may be quicker than this test.
  let random = never;
  const store = bed.keeping(counted.client, () => random());
  const claim = await held(store, 'work');
  await store.keep(claim, RECORD);
  const past = await bed.beside('work', 'past');
  random = always;
  const folder = bed.tree.recordsBeside('work');
  await store.keep(claim, RECORD);
  counted.asked();
  let go: () => void = () => {};
  // The next one is the deletion, for it has first to look.
  strike('multi', new Promise<void>((resolve) => (go = resolve)));
  await until('was it to be deleted', async () => counted.asked().multi === 1);
  // Somebody else is quicker, and then something new is kept.
  await bed.looking.multi([
    { step: 'set', path: folder, data: Buffer.alloc(0) },
    { step: 'delete', path: past },
  ]);
  await bed.looking.create(past, { data: Buffer.from(`1 ${HOUR_MS} new`) });
  go();
  // What a session asks is carried out in that order: at the second one the deletion has been.
  for (const _ of [1, 2]) await store.keep(claim, RECORD);
  expect((await bed.looking.getData(past)).data.toString()).toBe(`1 ${HOUR_MS} new`);
});

inBed('a record costs one request, and what time it is one in a while', async (bed) => {
  const { client, asked } = counting(zookeeperClient(server.url));
  const store = bed.keeping(client, never);
  const claim = await held(store, 'work');
  await store.keep(claim, RECORD);
  await store.keep(claim, RECORD);
  asked();
  for (let i = 0; i < 3; i++) {
    const { leftMs = 0 } = (await store.recall('work')) ?? {};
    expect(leftMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
  }
  const { multi = 0, setData = 0 } = asked();
  expect([multi, setData]).toEqual([0, 1]);
});

inBed('a record whose answer is lost is there, and may be kept again', async (bed) => {
  const { client, strike } = striking(zookeeperClient(server.url));
  const store = bed.keeping(client, never);
  const claim = await held(store, 'work');
  for (const path of [bed.tree.records, bed.tree.recordsBeside('work')]) {
    await bed.looking.create(path);
  }
  strike('multi', 'unanswered');
  const lost = { code: 'STORE', retryable: true, outcome: 'unknown' };
  await expect(store.keep(claim, RECORD)).rejects.toMatchObject(lost);
  expect((await bed.keeping().recall('work'))?.text).toBe('done');
  expect(await store.keep(claim, RECORD)).toBe(true);
  strike('multi', 'lost');
  await expect(store.keep(claim, { ...RECORD, text: 'not sent' })).rejects.toMatchObject(lost);
  expect((await store.recall('work'))?.text).toBe('done');
});

inBed('records of a layout that is not known are refused', async (bed) => {
  const store = bed.keeping();
  await store.keep(await held(store, 'work'), RECORD);
  await bed.looking.setData(bed.tree.record('work'), Buffer.from('2 something else'));
  await expect(store.recall('work')).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: false },
    message: expect.stringMatching(/layout that is not known/),
  });
});

inBed('names that would end a path have records of their own, and none is listed', async (bed) => {
  const names = ['a', 'a/b', 'a%2Fb', '%', '.', '..', '%kept', '\0', '😀'];
  await expectOwnRecords(bed.keeping(), names);
});
