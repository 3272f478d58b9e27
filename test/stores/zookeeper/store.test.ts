/**
 * What only nodes, sessions and watches show of the store: what is watched, what is written, and
 * what becomes of answers that come late or never.
 */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus, HeldStatus } from 'holdfast/store';
import { expect, test } from 'vitest';
import { claimOf, inBeds, type Place, TTL_MS } from '../../methods/faults/bed.ts';
import { until } from '../../support/until.ts';
import { Bed as AnyBed, ask, READ, SEAT, sharedServer, WRITE } from './fault-bed.ts';

const server = await sharedServer();

const inBed = inBeds(() => new Bed());

const HELD = { state: 'held' };
const WAITING = { state: 'waiting' };

class Bed extends AnyBed {
  constructor() {
    super(server);
  }

  party(terms: Partial<Claim> = {}, at: Place = server): Party {
    return new Party(this.store(at), claimOf('a', terms));
  }

  /** One after the other comes to the queue. */
  async lineUp<const All extends readonly Partial<Claim>[]>(
    ...all: All
  ): Promise<{ [N in keyof All]: Party }> {
    const parties = all.map((terms) => this.party(terms));
    for (const party of parties) await party.ask();
    return parties as { [N in keyof All]: Party };
  }

  /** One in the queue goes without a word. */
  async takeAway(index: number): Promise<void> {
    const { [index]: node } = await this.nodes('a');
    await this.looking.delete(node?.path ?? '');
  }

  /** Whose nodes each in a queue watches, by the time of their coming; of lists it is not told. */
  async watched(): Promise<number[][]> {
    const nodes = await this.nodes('a');
    const told = await server.fourLetters('wchc');
    const sessions = told.split('0x').map((each) => each.split('\n\t').map((at) => at.trim()));
    return nodes.map(({ stat }) => {
      const [, ...paths] = sessions.find(([id]) => id === stat.session.toString(16)) ?? [];
      return nodes.flatMap(({ path }, at) => (paths.includes(path) ? at : []));
    });
  }

  /** Somebody who holds would be told of whatever concerns it, and so needs not to ask. */
  async attends(holder: Party): Promise<void> {
    await until('was it watched', async () => (await this.watched())[0]?.[0] === 0);
    // The list is watched as well when this is answered, for that was asked for before it.
    expect(await holder.renewed()).toMatchObject(HELD);
  }
}

type Hints = readonly (ClaimStatus | undefined)[];

/** A claim in the queue `a`, of a program of its own. */
class Party {
  readonly store: Store;
  readonly claim: Claim;

  constructor(store: Store, claim: Claim) {
    this.store = store;
    this.claim = claim;
  }

  ask(): Promise<ClaimStatus | undefined> {
    return ask(this.store, this.claim);
  }

  async renewed(): Promise<ClaimStatus | undefined> {
    return (await this.store.renew([this.claim]))[0];
  }

  async release(): Promise<void> {
    await this.store.release([this.claim]);
  }

  /** What it is told from now on, without being asked for. */
  async hears(): Promise<Hints> {
    const told: (ClaimStatus | undefined)[] = [];
    await this.store.watch?.(this.claim, (hint) => told.push(hint));
    return told;
  }
}

async function heldIn(told: Hints): Promise<HeldStatus> {
  const held = () => told.find((hint) => hint?.state === 'held');
  await until('was it told', async () => held() !== undefined);
  return held() as HeldStatus;
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
  await bed.lineUp(...claims);
  const seen = await bed.watched();
  // Who holds watches itself.
  const others = seen.map((each, n) => each.filter((at) => at !== n));
  expect(others.slice(1)).toEqual(watched);
});

inBed('who waits for permits is told that the one before it has got them', async (bed) => {
  const [first, second, third, last] = await bed.lineUp(SEAT, SEAT, SEAT, SEAT);
  const [toThird, toLast] = [await third.hears(), await last.hears()];
  await first.release();
  await heldIn(toThird);
  // It is answered behind the word to the one behind it.
  await third.renewed();
  const [, node] = await bed.nodes('a');
  expect(node?.stat.version).toBe(1);
  await until('was it the first', async () => (await bed.watched())[2]?.length === 0);
  await second.release();
  expect((await heldIn(toLast)).waiters).toBe(0);
});

inBed('of several who get permits at once, each tells the one behind it', async (bed) => {
  const [big, first, second, third] = await bed.lineUp({ ...SEAT, permits: 2 }, SEAT, SEAT, SEAT);
  const [toFirst, toSecond] = [await first.hears(), await second.hears()];
  await big.release();
  await heldIn(toFirst);
  // It is answered behind the word to the one behind it.
  await first.renewed();
  const [node] = await bed.nodes('a');
  expect(node?.stat.version).toBe(1);
  expect((await heldIn(toSecond)).waiters).toBe(1);
  await until('was it the first', async () => (await bed.watched())[2]?.length === 0);
  expect(await third.renewed()).toMatchObject({ ...WAITING, ahead: 2 });
});

inBed('a hold that left no note has died, whatever one before it noted', async (bed) => {
  const [released, dying, last] = [bed.party(), bed.party({ ttlMs: TTL_MS }), bed.party()];
  const { token } = (await released.ask()) as HeldStatus;
  const toDying = await dying.hears();
  await dying.ask();
  await released.release();
  const second = await heldIn(toDying);
  expect(second.takeover).toEqual({ reason: 'released', token });
  const toLast = await last.hears();
  expect(await last.ask()).toMatchObject(WAITING);
  await dying.store.close?.();
  expect((await heldIn(toLast)).takeover).toEqual({ reason: 'expired', token: second.token });
});

inBed('one who has waited for two is told how the second hold ended', async (bed) => {
  const [released, dying, last] = await bed.lineUp({}, { ttlMs: TTL_MS }, {});
  const [toDying, toLast] = [await dying.hears(), await last.hears()];
  await released.release();
  const { token } = await heldIn(toDying);
  await dying.store.close?.();
  expect((await heldIn(toLast)).takeover).toEqual({ reason: 'expired', token });
});

inBed('an eviction is told to the next one alone', async (bed) => {
  const [first, next] = [bed.party(), bed.party()];
  const { token } = (await first.ask()) as HeldStatus;
  expect(await next.store.evict?.('a', token, { reason: 'it hangs', now: true })).toBe(true);
  expect(await next.ask()).toMatchObject({ takeover: { reason: 'evicted', token } });
  // It is answered behind what is done to the note; then it dies, as it were.
  expect(await next.renewed()).toMatchObject(HELD);
  await bed.takeAway(0);
  expect(await ask(first.store, claimOf('a'))).not.toHaveProperty('takeover');
});

test.concurrent.each([false, true])('a heartbeat finds an eviction; at once: %s', async (now) => {
  await using bed = new Bed();
  const [holder, other] = [bed.party(), bed.store(server)];
  const { token } = (await holder.ask()) as HeldStatus;
  await bed.attends(holder);
  await other.evict?.('a', token, { reason: 'it hangs', now });
  const evicted = { state: 'gone', why: 'evicted', detail: 'it hangs' };
  expect(await holder.renewed()).toEqual(evicted);
});

inBed('nothing is confirmed while there is no connection', async (bed) => {
  const { proxy } = await bed.behindProxy();
  const holder = bed.party({}, proxy);
  await holder.ask();
  await bed.attends(holder);
  const told = await holder.hears();
  proxy.refuse();
  proxy.reset();
  await until('was it told', async () => told.includes(undefined));
  expect(await holder.renewed()).toMatchObject({
    ...{ state: 'error', error: { code: 'STORE', retryable: true, outcome: 'failed' } },
  });
  await proxy.accept();
  await until('was it confirmed', async () => (await holder.renewed())?.state === 'held');
});

inBed('a release waits for what is on its way, and deletes it', async (bed) => {
  const { proxy } = await bed.behindProxy();
  const leaving = bed.party({}, proxy);
  await ask(leaving.store, claimOf('other'));
  await bed.lineUp({});
  proxy.toClient.set({ flow: 'hold' });
  const entering = leaving.ask();
  await until('was it there', async () => (await bed.nodes('a')).length === 2);
  const released = leaving.release();
  proxy.set();
  expect(await entering).toMatchObject({ state: 'gone', why: 'unknown' });
  await released;
  expect(await bed.nodes('a')).toHaveLength(1);
});

inBed('who only tries does not come where others hold', async (bed) => {
  await bed.lineUp({});
  /** How often anything came to the queue or left it. */
  const changes = async () => (await bed.looking.exists(`${bed.path}/a`))?.cversion;
  const before = await changes();
  const refused = { state: 'gone', why: 'refused' };
  expect(await bed.party({ queue: false }).ask()).toMatchObject(refused);
  expect(await changes()).toBe(before);
});

inBed('a waiter whose node is gone is not let in by the note of the one before it', async (bed) => {
  const [first, second, third] = await bed.lineUp({}, {}, {});
  const told = await second.hears();
  await bed.takeAway(1);
  await first.release();
  await until('was it told', async () => told.length > 0);
  expect(told).toEqual([undefined]);
  expect(await second.ask()).toMatchObject({ state: 'gone' });
  await until('does the next one hold', async () => (await third.ask())?.state === 'held');
});

inBed('the note of an earlier hold lets in no waiter that has gone', async (bed) => {
  const [before, holder] = await bed.lineUp({}, {});
  await before.release();
  await until('does it hold', async () => (await holder.ask())?.state === 'held');
  const [, last] = await bed.lineUp({}, {});
  const told = await last.hears();
  // As many go as stood before it, and it is one of them.
  await bed.takeAway(2);
  await bed.takeAway(1);
  await until('was it told', async () => told.length > 0);
  expect(told).toEqual([undefined]);
  expect(await last.ask()).toMatchObject({ state: 'gone' });
});
