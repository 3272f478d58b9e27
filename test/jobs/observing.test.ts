import { createLocks, type Member, StoreError } from 'holdfast';
import { createElection, type ObservedStandings } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import type { Claim, Follower } from 'holdfast/store';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { setUp, watchOutcome } from '../support/scripted-store.ts';

const holder = { host: 'there', pid: 7, since: 0 };
const member = (number: number): Member => ({
  ...{ number: BigInt(number), kind: 'permits', permits: 1, ttlMs: 1, leftMs: 1, holder },
});

/** A store that tells what the test says. */
function told() {
  const { clock, locks, store } = setUp();
  let follower: Follower | undefined;
  let following = 0;
  Object.assign(store, {
    async follow(_: string, given: Follower): Promise<AsyncDisposable> {
      follower = given;
      following++;
      given.told({ resource: 'e', holders: [], waiters: [] }, true);
      return { [Symbol.asyncDispose]: async () => void following-- };
    },
  });
  const tell = (leader: number, missed = false): void => {
    follower?.told({ resource: 'e', holders: [member(leader)], waiters: [] }, missed);
  };
  const nonsense = (): void => follower?.told({ resource: 'e' } as never, false);
  const fail = (error: StoreError): void => follower?.failed(error);
  return { clock, locks, tell, nonsense, fail, following: () => following };
}

const shown = ({ value }: IteratorResult<ObservedStandings, void>): string => {
  if (!value) return 'over';
  const leaders = value.leaders.map(({ number }) => number / 1024n).join();
  return value.missed ? `...${leaders}` : leaders;
};

it('each change is told once and in order, however slow its reader', async () => {
  const { locks, tell, nonsense, following } = told();
  const standings = createElection(locks, 'e').observe();
  expect(shown(await standings.next())).toBe('');
  tell(1);
  tell(1);
  tell(2, true);
  tell(2, true);
  tell(3);
  nonsense();
  tell(4);
  tell(5);
  const all: string[] = [];
  for (let n = 0; n < 5; n++) all.push(shown(await standings.next()));
  // Between 2 and 3 something was missed of which nothing was told at once.
  expect(all).toEqual(['1', '...2', '...3', '...4', '5']);
  await standings.return();
  expect(following()).toBe(0);
});

it('of a thousand changes and more the oldest go, and the next says so', async () => {
  const { locks, tell } = told();
  const standings = createElection(locks, 'e').observe();
  await standings.next();
  for (let n = 1; n <= 1003; n++) tell(n);
  expect(shown(await standings.next())).toBe('...4');
  expect(shown(await standings.next())).toBe('5');
  await standings.return();
});

it.each(['signal', 'locks'])('it ends with its %s, without an error', async (what) => {
  const { clock, locks, tell, following } = told();
  const aborter = new AbortController();
  const standings = createElection(locks, 'e').observe({ signal: aborter.signal });
  await standings.next();
  const next = standings.next();
  await clock.rest();
  if (what === 'signal') aborter.abort();
  else void locks.close();
  tell(1);
  expect(shown(await next)).toBe('over');
  expect(following()).toBe(0);
});

it('a failure that will not pass is thrown when all before it was told', async () => {
  const { locks, tell, fail } = told();
  const standings = createElection(locks, 'e').observe();
  await standings.next();
  tell(1);
  fail(new StoreError('It is another one.', { retryable: false, outcome: 'failed' }));
  expect(shown(await standings.next())).toBe('1');
  await expect(standings.next()).rejects.toMatchObject({ code: 'STORE' });
});

it('where a store is looked at, every change after the first may have hidden others', async () => {
  const { clock, locks, store } = setUp();
  store.onInspect = async () => ({ holders: [member(1)], waiters: [] });
  const standings = createElection(locks, 'e').observe({ every: 100 });
  expect(shown(await standings.next())).toBe('1');
  store.onInspect = async () => ({ holders: [member(2)], waiters: [] });
  const next = standings.next();
  await clock.advance(100);
  expect(shown(await next)).toBe('...2');
  await standings.return();
});

it('in memory a leader that dies is told though nobody asks, and no timer stays', async () => {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  const claim: Claim = {
    ...{ resource: 'e', id: 'a'.repeat(32), kind: 'permits', permits: 1, limit: 1 },
    ...{ ttlMs: 1000, queue: true, holder },
  };
  const locks = createLocks(store, { clock });
  const standings = createElection(locks, 'e').observe();
  await standings.next();
  await store.claim([claim]);
  expect(shown(await standings.next())).not.toBe('');
  await clock.advance(500);
  await store.renew([claim]);
  const next = watchOutcome(standings.next());
  await clock.advance(999);
  expect(next.done).toBe(false);
  await clock.advance(1);
  expect(next.value && shown(next.value)).toBe('');
  await standings.return();
});
