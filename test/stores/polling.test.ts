/** How often a database is looked at for those who wait, when it cannot send messages. */
import type { Claim, ClaimStatus } from 'holdfast/store';
import { simulatedClock } from 'holdfast/testkit';
import { expect, test } from 'vitest';
import { Polling } from '../../src/stores/polling.ts';
import { claimOf as anyClaim } from '../methods/faults/bed.ts';

const clock = simulatedClock(7);

const waiting = (ahead: number): ClaimStatus => ({
  ...{ state: 'waiting', leftMs: 10_000, why: 'queue', ahead, retryInMs: 10_000 },
});
const HELD: ClaimStatus = { state: 'held', token: 1n, leftMs: 10_000, waiters: 0 };

const claimOf = (id: string): Claim => anyClaim('r', { id, ttlMs: 10_000 });

/** A queue as a database shows it: from `first` on, one leaves every `everyMs`. */
function queue(everyMs: number) {
  const from = clock.now();
  const before = (place: number): number =>
    Math.max(0, place - Math.floor((clock.now() - from) / everyMs));
  return {
    looks: 0,
    at: (place: number): ClaimStatus => (before(place) === 0 ? HELD : waiting(before(place))),
  };
}

/** Waits at this place; resolves with how late the news came, and how often was looked. */
async function wait(place: number, everyMs: number): Promise<{ lateMs: number; looks: number }> {
  const from = clock.now();
  const line = queue(everyMs);
  const claim = claimOf('a');
  const polling = new Polling({
    clock,
    look: async (ids) => {
      line.looks++;
      return new Map(ids.map((id) => [id, line.at(place)]));
    },
  });
  const told = new Promise<void>((resolve) => {
    polling.watch(claim, (hint) => {
      if (hint?.state === 'held') resolve();
    });
  });
  polling.saw(claim, line.at(place));
  await told;
  polling.close();
  return { lateMs: clock.now() - from - place * everyMs, looks: line.looks };
}

test.each([10, 50, 300, 2000, 20_000])('one before it, who stays %d ms', async (everyMs) => {
  const { lateMs, looks } = await wait(1, everyMs);
  expect(lateMs).toBeLessThanOrEqual(Math.max(25, Math.min((everyMs / 8) * 1.25, 313)));
  // Every 20 ms at first, then with the logarithm, then four times a second.
  expect(looks).toBeLessThanOrEqual(12 + 9 * Math.max(0, Math.log2(everyMs / 160)) + everyMs / 180);
});

test('of a long queue nobody looks more than a little more often', async () => {
  const one = await wait(1, 100);
  const five = await wait(500, 100);
  expect(five.looks).toBeLessThan(one.looks * 12);
  // At most a quarter of a second, with chance, and what the last step takes.
  expect(five.lateMs).toBeLessThanOrEqual(313);
});

test('many are looked at together, and nobody who does not wait', async () => {
  const asked: (readonly string[])[] = [];
  const polling = new Polling({
    clock,
    look: async (ids) => {
      asked.push(ids);
      return new Map(ids.map((id) => [id, waiting(1)]));
    },
  });
  const claims = ['a', 'b', 'c', 'd'].map(claimOf);
  for (const claim of claims) polling.watch(claim, () => {});
  const [a, b, c, d] = claims as [Claim, Claim, Claim, Claim];
  polling.saw(a, waiting(1));
  polling.saw(b, waiting(1));
  polling.saw(c, HELD);
  polling.saw(d, { state: 'gone', why: 'refused' });
  await clock.sleep(10_000);
  polling.saw(a, HELD);
  const before = asked.length;
  await clock.sleep(10_000);
  polling.close();
  expect(asked.slice(0, before).some((ids) => ids.length === 2)).toBe(true);
  expect(asked.slice(before + 1).flat()).not.toContain('a');
  expect(asked.flat().filter((id) => id === 'c' || id === 'd')).toEqual([]);
});

test('who is gone is woken, so that it asks; news are told once', async () => {
  const states = [waiting(3), waiting(3), waiting(2), undefined, undefined];
  const told: unknown[] = [];
  const polling = new Polling({
    clock,
    look: async ([id = '']) => {
      const status = states.shift();
      return new Map(status ? [[id, status]] : []);
    },
  });
  const claim = claimOf('a');
  polling.watch(claim, (hint) => told.push(hint));
  polling.saw(claim, waiting(3));
  await clock.sleep(60_000);
  polling.close();
  expect(told).toEqual([waiting(2), undefined]);
});

test('a database in trouble is asked less often, and one at a time', async () => {
  let [asking, most, count] = [0, 0, 0];
  const polling = new Polling({
    clock,
    look: async () => {
      most = Math.max(most, ++asking);
      count++;
      await clock.sleep(3000);
      asking--;
      throw new Error('trouble');
    },
  });
  const claim = claimOf('a');
  polling.watch(claim, () => {});
  polling.saw(claim, waiting(1));
  await clock.sleep(50_000);
  polling.close();
  expect(most).toBe(1);
  expect(count).toBeLessThanOrEqual(11);
  expect(count).toBeGreaterThan(5);
});

test('nobody looks for who has stopped watching, or after the end', async () => {
  let count = 0;
  const look = async (): Promise<ReadonlyMap<string, ClaimStatus>> => {
    count++;
    return new Map();
  };
  const [one, two] = [new Polling({ clock, look }), new Polling({ clock, look })];
  const watching = one.watch(claimOf('a'), () => {});
  two.watch(claimOf('a'), () => {});
  one.saw(claimOf('a'), waiting(1));
  two.saw(claimOf('a'), waiting(1));
  await watching[Symbol.asyncDispose]();
  two.close();
  await clock.sleep(10_000);
  expect(count).toBe(0);
});
