import { createLocks, evict, type Locks, list } from 'holdfast';
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

const CALLS: readonly [what: string, verb: Verb, call: (locks: Locks) => Promise<unknown>][] = [
  ['inspect', 'inspect', (locks) => locks.inspect('a')],
  ['evict', 'evict', (locks) => evict(locks, 'a', { token: 1024n, reason: 'stuck' })],
  ['an observation', 'inspect', (locks) => createElection(locks, 'a').observe().next()],
  ['a list', 'list', (locks) => list(locks).next()],
];

it.each(CALLS)('%s ends although the store is silent', async (_, verb, call) => {
  const { clock, locks } = silent(verb);
  const rejected = expect(call(locks)).rejects.toMatchObject(UNKNOWN);
  await clock.advance(10_000);
  await rejected;
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
