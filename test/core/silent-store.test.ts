import { createLocks, evict, list } from 'holdfast';
import { createElection } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import { aroundStore, faultyStore, type Verb } from 'holdfast/testkit';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';

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
  const evicted = evict(locks, 'a', { token: 1024n, reason: 'stuck' });
  const rejected = expect(evicted).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await rejected;
});

it('whoever observes an election hears that the store is silent', async () => {
  const { clock, locks } = silent('inspect');
  const first = createElection(locks, 'a').observe().next();
  const rejected = expect(first).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await rejected;
});

it('a list ends although the store is silent', async () => {
  const { clock, locks } = silent('list');
  const first = expect(list(locks).next()).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await first;
  expect(clock.timers).toBe(0);
});

it('a list that falls silent ends, and one that is left is ended', async () => {
  const clock = new FakeClock();
  const memory = memoryStore({ clock });
  let ended = 0;
  const falling = async function* () {
    try {
      yield 'a';
      yield 'b';
      await new Promise(() => {});
    } finally {
      ended++;
    }
  };
  const traits = { ...memory.traits, synchronous: false };
  const locks = createLocks(
    { ...aroundStore(memory, (_, next) => next(), traits), list: falling },
    { clock },
  );
  for await (const name of list(locks)) {
    expect(name).toBe('a');
    break;
  }
  expect(ended).toBe(1);
  const names = list(locks);
  await names.next();
  await names.next();
  const last = expect(names.next()).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await last;
  expect(clock.timers).toBe(0);
});

it('a wait that the store never answered says so', async () => {
  const { clock, locks } = silent('claim');
  const rejected = expect(locks.mutex('a').acquire({ wait: 5_000 })).rejects.toMatchObject({
    code: 'ACQUIRE_TIMEOUT',
    message: expect.stringContaining('the store fails: The store did not answer'),
    cause: UNKNOWN,
  });
  await clock.advance(20_000);
  await rejected;
});
