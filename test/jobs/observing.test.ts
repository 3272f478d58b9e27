import { getEventListeners } from 'node:events';
import { type Member, StoreError } from 'holdfast';
import { createElection, type ObservedStandings } from 'holdfast/election';
import { expect, it } from 'vitest';
import { setUp, watchOutcome } from '../support/scripted-store.ts';

const holder = { host: 'there', pid: 7, since: 0 };
const member = (number: number): Member => ({
  ...{ number: BigInt(number), kind: 'permits', permits: 1, ttlMs: 1, leftMs: 1, holder },
});

/** A store in whose queue those stand whom the test names. */
function observed() {
  const { clock, locks, store } = setUp();
  let looks = 0;
  const stand = (leaders: readonly number[], standbys: readonly number[] = []): void => {
    store.onInspect = async () => {
      looks++;
      return { holders: leaders.map(member), waiters: standbys.map(member) };
    };
  };
  const fail = (retryable: boolean): void => {
    store.onInspect = async () => {
      looks++;
      throw new StoreError('It is away.', { retryable, outcome: 'failed' });
    };
  };
  stand([]);
  return { clock, locks, stand, fail, looks: () => looks };
}

const shown = ({ value }: IteratorResult<ObservedStandings, void>): string => {
  if (!value) return 'over';
  const [leaders, standbys] = [value.leaders, value.standbys].map((all) =>
    all.map(({ number }) => number / 1024n).join(),
  );
  return `${value.missed ? '...' : ''}${leaders}|${standbys}`;
};

it('each change that a look finds is yielded once, and may have hidden others', async () => {
  const { clock, locks, stand, looks } = observed();
  const standings = createElection(locks, 'e').observe({ every: 100 });
  expect(shown(await standings.next())).toBe('|');
  for (const [leaders, standbys, text] of [
    [[1], [], '...1|'],
    [[1], [2], '...1|2'],
    [[1, 2], [], '...1,2|'],
    [[2], [], '...2|'],
    [[3], [], '...3|'],
  ] as const) {
    const next = watchOutcome(standings.next());
    await clock.advance(250);
    expect(next.done).toBe(false);
    stand(leaders, standbys);
    await clock.advance(50);
    expect(next.value && shown(next.value)).toBe(text);
  }
  expect(looks()).toBe(1 + 5 * 3);
  await standings.return();
  // The time limit of a look is over by then.
  await clock.advance(10_000);
  expect(clock.timers).toBe(0);
});

it('nothing is looked at while its reader is busy, or once it has left', async () => {
  const { clock, locks, stand, looks } = observed();
  const { signal } = new AbortController();
  const standings = createElection(locks, 'e').observe({ signal });
  await standings.next();
  await clock.advance(10_000);
  stand([1]);
  expect(looks()).toBe(1);
  const next = standings.next();
  await clock.advance(500);
  expect(shown(await next)).toBe('...1|');
  await standings.return();
  await clock.advance(10_000);
  expect(looks()).toBe(2);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it.each(['signal', 'locks'])('it ends with its %s, without an error', async (what) => {
  const { clock, locks } = observed();
  const aborter = new AbortController();
  const standings = createElection(locks, 'e').observe({ signal: aborter.signal });
  await standings.next();
  const next = watchOutcome(standings.next());
  await clock.rest();
  if (what === 'signal') aborter.abort();
  else void locks.close();
  await clock.rest();
  expect(next.value && shown(next.value)).toBe('over');
});

it.each(['standings', 'failure'])('a %s found when it ended is kept back', async (what) => {
  const { clock, locks, stand, fail } = observed();
  const aborter = new AbortController();
  const { signal } = aborter;
  const standings = createElection(locks, 'e').observe({ signal });
  if (what === 'failure') fail(false);
  else stand([1]);
  const next = standings.next();
  aborter.abort();
  await clock.rest();
  expect(shown(await next)).toBe('over');
});

it('a failure that may pass is waited for, another one is thrown, as is any at first', async () => {
  const { clock, locks, stand, fail } = observed();
  fail(true);
  await expect(createElection(locks, 'e').observe().next()).rejects.toMatchObject({
    code: 'STORE',
  });
  stand([1]);
  const standings = createElection(locks, 'e').observe();
  await standings.next();
  fail(true);
  const next = watchOutcome(standings.next());
  await clock.advance(2000);
  expect(next.done).toBe(false);
  fail(false);
  await clock.advance(500);
  expect(next.error).toMatchObject({ code: 'STORE' });
});

it('of closed locks an observation begins only to end', async () => {
  const { locks, looks } = observed();
  const election = createElection(locks, 'e');
  await locks.close();
  await expect(election.observe().next()).rejects.toMatchObject({ code: 'CLOSED' });
  const over = election.observe({ signal: AbortSignal.abort() });
  expect(shown(await over.next())).toBe('over');
  expect(looks()).toBe(0);
});
