/**
 * A store that works, and of which a script says what becomes of each reply: nonsense, an error,
 * silence. Its work is done all the same, so what it holds is the truth.
 */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type Store, StoreError, type Traits } from 'holdfast';
import type { ClaimStatus, Wake } from 'holdfast/store';
import { aroundStore } from 'holdfast/testkit';
import type { FakeClock } from '../../support/fake-clock.ts';

/** Makes of a reply what is given instead, and its name for a counterexample. */
type Garbling = readonly [name: string, garble: (reply: unknown, clock: FakeClock) => unknown];

/** In place of each status of a batch, or of the only reply. */
const REPLIES: readonly unknown[] = [
  ...[undefined, null, 5, 'held', true, {}, [], Symbol('s'), () => 1, { state: 'maybe' }],
  ...[{ state: 'held' }, { state: 'waiting' }, { state: 'gone' }, { state: 'error' }],
  ...[{ state: 'error', error: 'text' }, { state: Symbol('s') }],
  ...['refused', 'full', 'mismatch', 'expired', 'evicted', 'store-reset', 'unknown', 'because'].map(
    (why) => ({ state: 'gone', why }),
  ),
  { state: 'gone', why: 'mismatch', detail: Symbol('s') },
  { state: 'waiting', why: 'queue', leftMs: 50, retryInMs: 0 },
  { state: 'waiting', why: 'data-loss', leftMs: Number.NaN, retryInMs: 5 },
  { state: 'waiting', why: 'queue', leftMs: 50, retryInMs: 'soon' },
];

/** In place of a part of a reply that is right otherwise. */
const PARTS: readonly object[] = [
  ...[Number.NaN, -1, Number.POSITIVE_INFINITY, 1e300, '5', null, 5n].map((leftMs) => ({ leftMs })),
  ...[5, '5', undefined, -1n, null, Number.NaN].map((token) => ({ token })),
  ...[Number.NaN, '1', undefined].map((waiters) => ({ waiters })),
  ...[null, {}, 5, { reason: 'x', token: 1n }, { reason: 'expired', token: 1 }].map((takeover) => ({
    takeover,
  })),
  ...['held', 'HELD', 1].map((state) => ({ state })),
];

const WHOLE = [undefined, null, 5, 'held', {}, [], [undefined], { length: 1 }, new Array(50)];

const REJECTIONS: readonly unknown[] = [
  ...[undefined, null, 'text', Symbol('s'), 5n, {}, Object.create(null), new Error('plain')],
  Object.freeze(new Error('frozen')),
  new StoreError('it may pass', { retryable: true, outcome: 'unknown' }),
  new StoreError('it will not', { retryable: false, outcome: 'failed' }),
];

const RIGHT: Garbling = ['right', (reply) => reply];

const THROWS: Garbling = [
  'throws at once',
  () => {
    throw new Error('loud');
  },
];

function named<T>(what: string, all: readonly T[], garble: (one: T, reply: unknown) => unknown) {
  return all.map((one): Garbling => {
    return [`${what} ${inspect(one).split('\n', 1)}`, (reply) => garble(one, reply)];
  });
}

const QUICK: readonly Garbling[] = [
  ...named('whole', WHOLE, (whole) => whole),
  ...named('each', REPLIES, (one, reply) => (Array.isArray(reply) ? reply.map(() => one) : one)),
  ...named('with', PARTS, (part, reply) =>
    Array.isArray(reply) ? reply.map((one) => ({ ...one, ...part })) : part,
  ),
  ...named('rejects', REJECTIONS, (reason) => Promise.reject(reason)),
  THROWS,
  ['one too few', (reply) => (Array.isArray(reply) ? reply.slice(1) : reply)],
  ['one too many', (reply) => (Array.isArray(reply) ? [...reply, reply[0]] : 1)],
];

/** Only a store that is not synchronous may be slow. */
const SLOW: readonly Garbling[] = [
  ['silent', () => new Promise(() => {})],
  ['late', (reply, clock) => new Promise((go) => clock.setTimeout(() => go(reply), 700))],
];

export interface Script {
  readonly traits: Partial<Traits>;
  /** One for each reply and hint, in their order; after them all are right. */
  readonly garblings: readonly Garbling[];
}

export const HONEST: Script = { traits: {}, garblings: [] };

export const scripts: fc.Arbitrary<Script> = fc
  .record({
    synchronous: fc.boolean(),
    sequential: fc.boolean(),
    hintsGrant: fc.boolean(),
    queue: fc.boolean(),
  })
  .chain((traits) => {
    const bad = traits.synchronous ? QUICK : [...QUICK, ...SLOW, ...SLOW, ...SLOW];
    const one = fc.oneof(
      { weight: 2, arbitrary: fc.constant(RIGHT) },
      { weight: 3, arbitrary: fc.constantFrom(...bad) },
    );
    const all = fc.array(one, { minLength: 1, maxLength: 40, size: 'max' });
    return all.map((garblings) => ({ traits, garblings }));
  });

export interface GarbledStore extends Store {
  /** From now on all its replies are right. */
  recover(): void;
}

export function garbledStore(truth: Store, clock: FakeClock, script: Script): GarbledStore {
  const left = [...script.garblings];
  const next = (): Garbling => left.shift() ?? RIGHT;
  const traits: Traits = { ...truth.traits, ...script.traits };
  const store = aroundStore(
    truth,
    (_, verb) => {
      const reply = verb();
      const [, garble] = next();
      if (garble === THROWS[1]) garble(undefined, clock);
      return reply.then((right) => garble(right, clock)) as typeof reply;
    },
    traits,
  );
  const { watch } = store;
  return Object.assign(store, {
    recover: () => void left.splice(0),
    watch: (...[claim, wake]: Parameters<NonNullable<typeof watch>>) =>
      watch!.call(store, claim, (hint) => hear(wake, hint, next(), clock)),
  });
}

/** A garbled hint comes before the right one. What it throws is the store's own concern. */
function hear(wake: Wake, hint: ClaimStatus | undefined, garbling: Garbling, clock: FakeClock) {
  try {
    if (garbling !== RIGHT) {
      const said = garbling[1](hint, clock);
      if (said instanceof Promise) said.then(wake).catch(() => wake(hint));
      else wake(said as ClaimStatus);
    }
    wake(hint);
  } catch {
    // The garbling has thrown.
  }
}
