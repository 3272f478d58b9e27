/**
 * What only nodes, sessions and watches show of the store: what is watched, what is written, and
 * what becomes of answers that come late or never.
 */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus, HeldStatus } from 'holdfast/store';
import { afterAll, expect, test } from 'vitest';
import { claimOf, inBeds, TTL_MS } from '../../methods/faults/bed.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { until } from '../../support/until.ts';
import { Bed as AnyBed, ask, READ, SEAT, WRITE } from './fault-bed.ts';

const server = await startZookeeper();
afterAll(() => server.close());

const inBed = inBeds(() => new Bed());

const HELD = { state: 'held' };
const WAITING = { state: 'waiting' };

class Bed extends AnyBed {
  constructor() {
    super(server);
  }

  async proxied(): Promise<{ readonly proxy: TcpProxy; readonly store: Store }> {
    const proxy = this.serve(await TcpProxy.start(server.port));
    return { proxy, store: this.store(proxy) };
  }

  /** One after the other, each of a program of its own. */
  async lineUp(claims: readonly Claim[]): Promise<Store[]> {
    const stores: Store[] = [];
    for (const claim of claims) {
      const store = this.store(server);
      await ask(store, claim);
      stores.push(store);
    }
    return stores;
  }

  /** How often anything came to a queue or left it. */
  async changesOf(resource: string): Promise<number | undefined> {
    return (await this.looking.exists(`${this.path}/${resource}`))?.cversion;
  }

  /** One in a queue goes without a word. */
  async takeAway(resource: string, index = 0): Promise<void> {
    const { [index]: node } = await this.nodes(resource);
    await this.looking.delete(node?.path ?? '');
  }

  /** Whose nodes each in a queue watches, by the time of their coming; of lists it is not told. */
  async watched(resource: string): Promise<number[][]> {
    const nodes = await this.nodes(resource);
    const told = await server.fourLetters('wchc');
    const sessions = told.split('0x').map((each) => each.split('\n\t').map((at) => at.trim()));
    return nodes.map(({ stat }) => {
      const [, ...paths] = sessions.find(([id]) => id === stat.session.toString(16)) ?? [];
      return nodes.flatMap(({ path }, at) => (paths.includes(path) ? at : []));
    });
  }

  /** Somebody who holds would be told of whatever concerns it, and so needs not to ask. */
  async attends(store: Store, claim: Claim): Promise<void> {
    await until('was it watched', async () => (await this.watched(claim.resource))[0]?.[0] === 0);
    // The list is watched as well when this is answered, for that was asked for before it.
    expect(await renewed(store, claim)).toMatchObject(HELD);
  }
}

async function renewed(store: Store, claim: Claim): Promise<ClaimStatus | undefined> {
  return (await store.renew([claim]))[0];
}

/** Without being asked for; what it is told then. */
async function toldOf(store: Store, claim: Claim): Promise<() => Promise<HeldStatus>> {
  let held: HeldStatus | undefined;
  await store.watch?.(claim, (hint) => {
    if (hint?.state === 'held') held = hint;
  });
  return async () => {
    await until('was it told', async () => held !== undefined);
    return held as HeldStatus;
  };
}

const LINES = [
  { who: 'a mutex', claims: Array(8).fill({}), watched: [[0], [1], [2], [3], [4], [5], [6]] },
  {
    who: 'readers and writers',
    claims: [WRITE, READ, READ, READ, WRITE, READ, READ],
    watched: [[0], [0], [0], [3], [4], [4]],
  },
  {
    who: 'permits',
    claims: Array(8).fill(SEAT),
    // The second one holds, and the first who waits watches the list.
    watched: [[], [], [2], [3], [4], [5], [6]],
  },
];

test.concurrent.each(LINES)('who waits for $who watches one node', async ({ claims, watched }) => {
  await using bed = new Bed();
  await bed.lineUp(claims.map((terms: Partial<Claim>) => claimOf('a', terms)));
  const seen = await bed.watched('a');
  // Who holds watches itself.
  const others = seen.map((each, n) => each.filter((at) => at !== n));
  expect(others.slice(1)).toEqual(watched);
});

inBed('who waits for permits is told that the one before it has got them', async (bed) => {
  const claims = [0, 1, 2, 3].map(() => claimOf('a', SEAT));
  const stores = await bed.lineUp(claims);
  const [first, second, third, last] = claims as [Claim, Claim, Claim, Claim];
  const [, , next, after] = stores as [Store, Store, Store, Store];
  const [nextIn, lastIn] = [await toldOf(next, third), await toldOf(after, last)];
  await stores[0]?.release([first]);
  await nextIn();
  // It is answered behind the word to the one behind it.
  await renewed(next, third);
  const [, node] = await bed.nodes('a');
  expect(node?.stat.version).toBe(1);
  await until('was it the first', async () => (await bed.watched('a'))[2]?.length === 0);
  await stores[1]?.release([second]);
  expect((await lastIn()).waiters).toBe(0);
});

inBed('of several who get permits at once, each tells the one behind it', async (bed) => {
  const big = claimOf('a', { ...SEAT, permits: 2 });
  const small = [0, 1, 2].map(() => claimOf('a', SEAT));
  const [first, second, third] = small as [Claim, Claim, Claim];
  const [holds, ...stores] = await bed.lineUp([big, ...small]);
  const [one, two, three] = stores as [Store, Store, Store];
  const [firstIn, secondIn] = [await toldOf(one, first), await toldOf(two, second)];
  await holds?.release([big]);
  await firstIn();
  // It is answered behind the word to the one behind it.
  await renewed(one, first);
  const [node] = await bed.nodes('a');
  expect(node?.stat.version).toBe(1);
  expect((await secondIn()).waiters).toBe(1);
  await until('was it the first', async () => (await bed.watched('a'))[2]?.length === 0);
  expect(await renewed(three, third)).toMatchObject({ ...WAITING, ahead: 2 });
});

inBed('a hold that left no note has died, whatever one before it noted', async (bed) => {
  const [store, dying, last] = [bed.store(server), bed.store(server), bed.store(server)];
  const [released, died, next] = [claimOf('a'), claimOf('a', { ttlMs: TTL_MS }), claimOf('a')];
  const first = (await ask(store, released)) as HeldStatus;
  const secondIn = await toldOf(dying, died);
  await ask(dying, died);
  await store.release([released]);
  const second = await secondIn();
  expect(second.takeover).toEqual({ reason: 'released', token: first.token });
  const thirdIn = await toldOf(last, next);
  expect(await ask(last, next)).toMatchObject(WAITING);
  await dying.close?.();
  expect((await thirdIn()).takeover).toEqual({ reason: 'expired', token: second.token });
});

inBed('one who has waited for two is told how the second hold ended', async (bed) => {
  const claims = [claimOf('a'), claimOf('a', { ttlMs: TTL_MS }), claimOf('a')];
  const [store, dying, last] = (await bed.lineUp(claims)) as [Store, Store, Store];
  const [released, died, next] = claims as [Claim, Claim, Claim];
  const [secondIn, thirdIn] = [await toldOf(dying, died), await toldOf(last, next)];
  await store.release([released]);
  const { token } = await secondIn();
  await dying.close?.();
  expect((await thirdIn()).takeover).toEqual({ reason: 'expired', token });
});

inBed('an eviction is told to the next one alone', async (bed) => {
  const [store, other] = [bed.store(server), bed.store(server)];
  const { token } = (await ask(store, claimOf('a'))) as HeldStatus;
  expect(await other.evict?.('a', token, { reason: 'it hangs', now: true })).toBe(true);
  const next = claimOf('a');
  expect(await ask(other, next)).toMatchObject({ takeover: { reason: 'evicted', token } });
  // It is answered behind what is done to the note; then it dies, as it were.
  expect(await renewed(other, next)).toMatchObject(HELD);
  await bed.takeAway('a');
  expect(await ask(store, claimOf('a'))).not.toHaveProperty('takeover');
});

test.concurrent.each([false, true])('a heartbeat finds an eviction; at once: %s', async (now) => {
  await using bed = new Bed();
  const [store, other] = [bed.store(server), bed.store(server)];
  const claim = claimOf('a');
  const { token } = (await ask(store, claim)) as HeldStatus;
  await bed.attends(store, claim);
  await other.evict?.('a', token, { reason: 'it hangs', now });
  const evicted = { state: 'gone', why: 'evicted', detail: 'it hangs' };
  expect(await renewed(store, claim)).toEqual(evicted);
});

inBed('nothing is confirmed while there is no connection', async (bed) => {
  const { proxy, store } = await bed.proxied();
  const claim = claimOf('a');
  await ask(store, claim);
  await bed.attends(store, claim);
  let asks = 0;
  await store.watch?.(claim, (hint) => {
    if (!hint) asks++;
  });
  proxy.refuse();
  proxy.reset();
  await until('was it told', async () => asks > 0);
  expect(await renewed(store, claim)).toMatchObject({
    ...{ state: 'error', error: { code: 'STORE', retryable: true, outcome: 'failed' } },
  });
  await proxy.accept();
  await until('was it confirmed', async () => (await renewed(store, claim))?.state === 'held');
});

inBed('a release waits for what is on its way, and deletes it', async (bed) => {
  const { proxy, store } = await bed.proxied();
  await ask(store, claimOf('other'));
  await ask(bed.store(server), claimOf('a'));
  const claim = claimOf('a');
  proxy.toClient.set({ flow: 'hold' });
  const entering = ask(store, claim);
  await until('was it there', async () => (await bed.nodes('a')).length === 2);
  const released = store.release([claim]);
  proxy.set();
  expect(await entering).toMatchObject({ state: 'gone', why: 'unknown' });
  await released;
  expect(await bed.nodes('a')).toHaveLength(1);
});

inBed('who only tries does not come where others hold', async (bed) => {
  const [store, other] = [bed.store(server), bed.store(server)];
  await ask(store, claimOf('a'));
  const before = await bed.changesOf('a');
  const refused = { state: 'gone', why: 'refused' };
  expect(await ask(other, claimOf('a', { queue: false }))).toMatchObject(refused);
  expect(await bed.changesOf('a')).toBe(before);
});

test('a waiter whose node is gone is not let in by the note of the one before it', async () => {
  await using bed = new Bed();
  const claims = [claimOf('a'), claimOf('a'), claimOf('a')] as const;
  const [first, second, third] = (await bed.lineUp(claims)) as [Store, Store, Store];
  const told: (ClaimStatus | undefined)[] = [];
  await second.watch?.(claims[1], (status) => told.push(status));
  await bed.takeAway('a', 1);
  await first.release([claims[0]]);
  await until('was it told', async () => told.length > 0);
  expect(told).toEqual([undefined]);
  expect(await ask(second, claims[1])).toMatchObject({ state: 'gone' });
  await until(
    'does the next one hold',
    async () => (await ask(third, claims[2]))?.state === 'held',
  );
});

test('the note of an earlier hold lets in no waiter that has gone', async () => {
  await using bed = new Bed();
  const [before, holder, one, gone] = Array.from({ length: 4 }, () => claimOf('a')) as [
    Claim,
    Claim,
    Claim,
    Claim,
  ];
  const [leaving, holding] = (await bed.lineUp([before, holder])) as [Store, Store];
  await leaving.release([before]);
  await until('does it hold', async () => (await ask(holding, holder))?.state === 'held');
  const [, last] = (await bed.lineUp([one, gone])) as [Store, Store];
  const told: (ClaimStatus | undefined)[] = [];
  await last.watch?.(gone, (status) => told.push(status));
  // As many go as stood before it, and it is one of them.
  await bed.takeAway('a', 2);
  await bed.takeAway('a', 1);
  await until('was it told', async () => told.length > 0);
  expect(told).toEqual([undefined]);
  expect(await ask(last, gone)).toMatchObject({ state: 'gone' });
});
