import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { faultyStore, type Verb } from 'holdfast/testkit';
import { expect, it } from 'vitest';
import { FakeClock } from './fake-clock.ts';

/** A store whose client is silent for ever about this verb, as one is that lost its connection. */
function silent(verb: Verb) {
  const clock = new FakeClock();
  const store = faultyStore(memoryStore({ clock }), clock);
  store.inject({ verb, arrives: 'never', answer: 'never' });
  return { clock, locks: createLocks(store, { clock }) };
}

const UNKNOWN = { code: 'STORE', retryable: true, outcome: 'unknown' };

it('inspect ends although the store is silent', async () => {
  const { clock, locks } = silent('inspect');
  const rejected = expect(locks.inspect('a')).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await rejected;
  expect(clock.timers).toBe(0);
});

it('evict ends although the store is silent', async () => {
  const { clock, locks } = silent('evict');
  const evicted = locks.evict('a', { token: 1024n, reason: 'stuck' });
  const rejected = expect(evicted).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await rejected;
});

it('whoever observes an election hears that the store is silent', async () => {
  const { clock, locks } = silent('inspect');
  const first = locks.election('a').observe().next();
  const rejected = expect(first).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await rejected;
});
