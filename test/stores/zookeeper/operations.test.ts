/** What locks cost: requests and round trips, whatever the number of those who wait. */
import type { Claim, ClaimStatus } from 'holdfast/store';
import { zookeeperClient } from 'holdfast/zookeeper';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { claimOf, inTurn } from '../../methods/faults/bed.ts';
import { expectNoCost } from '../../methods/faults/pair-cost.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { counting } from './clients.ts';
import { Bed, MUTEX, READ, sharedServer, type Terms, WRITE } from './fault-bed.ts';

const server = await sharedServer();

/** Timers are late, so that nobody asks for what concerns those who hold for longer. */
const system = systemClock();
const clock: Clock = { ...system, setTimeout: (run, ms) => system.setTimeout(run, ms * 1000) };

const inBed = inTurn(() => new Bed(server));

function countedStore(bed: Bed) {
  const { client, asked } = counting(zookeeperClient(server.url));
  return { store: bed.storeOf(client, clock, 1000), asked };
}

const permits = (count: number): Terms => ({ kind: 'permits', permits: count, limit: 3 });

describe('a lock', () => {
  inBed('that is free makes no promise, and no timer for a request', async (bed) => {
    await expectNoCost(bed.store(server));
  });

  inBed('is taken with two requests, and released with one', async (bed) => {
    const { store, asked } = countedStore(bed);
    for (const terms of [MUTEX, READ, WRITE, permits(2)]) {
      const { kind } = terms;
      const [first, claim] = [claimOf(kind), claimOf(kind, terms)];
      // The queue is there then, and so is the session.
      await store.claim([first]);
      await store.release([first]);
      asked();
      expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
      expect([kind, asked()]).toEqual([kind, { createProtected: 1, getChildren: 1 }]);
      await store.release([claim]);
      expect([kind, asked()]).toEqual([kind, { multi: 1 }]);
    }
  });

  inBed('is taken in one round trip, and released in another', async (bed) => {
    const { proxy } = await bed.behindProxy();
    const store = bed.store(proxy);
    const delayMs = paced(100);
    const taken: number[] = [];
    const released: number[] = [];
    // A busy machine makes one late, and hardly all.
    for (let i = 0; i < 5; i++) {
      const claim = claimOf('a');
      const began = performance.now();
      await store.claim([claim]);
      if (i > 0) taken.push(performance.now() - began);
      const held = performance.now();
      await store.release([claim]);
      if (i > 0) released.push(performance.now() - held);
      proxy.set({ delayMs });
    }
    for (const times of [taken, released]) {
      expect(Math.min(...times)).toBeGreaterThanOrEqual(2 * delayMs);
      expect(Math.min(...times)).toBeLessThan(4 * delayMs);
    }
  });
});

/** So many wait in a queue of these terms, in turn, each in a session of its own; one leaves. */
async function costs(waiters: number, ...turns: readonly Terms[]): Promise<number> {
  await using bed = new Bed(server);
  const parties = Array.from({ length: waiters + 1 }, () => countedStore(bed));
  const claims = parties.map((_, n) => claimOf('a', turns[n % turns.length]));
  let over = 0;
  const leave = async (n: number): Promise<void> => {
    await parties[n]?.store.release([claims[n] as Claim]);
    over++;
  };
  const told = async (n: number, status: ClaimStatus | undefined): Promise<void> => {
    const news = status ?? (await parties[n]?.store.renew([claims[n] as Claim]))?.[0];
    if (news?.state === 'held') await leave(n);
  };
  for (const [n, { store }] of parties.entries()) {
    const claim = claims[n] as Claim;
    await store.watch?.(claim, (status) => void told(n, status));
    await store.claim([claim]);
  }
  for (const { asked } of parties) asked();
  await leave(0);
  await until('had all got it', async () => over === parties.length);
  const all = parties.flatMap(({ asked }) => Object.values(asked()));
  return all.reduce((sum, each) => sum + each, 0);
}

describe('a hand-off', () => {
  test.each([
    ['a mutex', 2, [MUTEX]],
    ['writers', 2, [WRITE]],
    ['readers and writers', 3, [WRITE, READ]],
    ['permits', 4, [permits(3)]],
    ['weighted permits', 4, [permits(3), permits(2), permits(1)]],
  ])('of %s costs at most %i requests, whether 2 wait or 200', async (_, most, turns) => {
    for (const waiters of [2, 200]) {
      // The first was there already, and only leaves. Permits that come back at one moment may cost
      // one look more.
      const total = (await costs(waiters, ...turns)) - 1;
      expect(Math.floor(total / waiters)).toBeLessThanOrEqual(most);
    }
  });

  test('to the one right behind costs one request beside the releases', async () => {
    for (const terms of [MUTEX, WRITE, permits(3)]) expect(await costs(1, terms)).toBe(3);
  });
});
