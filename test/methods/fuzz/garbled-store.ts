/**
 * A store that works, behind a mouth that does not: what it answers is replaced by nonsense, in the
 * order that the run has chosen. Its work is done all the same, so what it holds is the truth.
 */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type Store, StoreError, type Traits } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import type { ClaimStatus, Wake } from 'holdfast/store';
import type { FakeClock } from '../../support/fake-clock.ts';
import { plain, Recipe, thenable } from './recipes.ts';

/** Makes of an answer what is given instead. */
type Garble = (answer: unknown, clock: FakeClock) => unknown;

export type Garbling = Recipe<Garble>;

function garbling(text: string, garble: Garble): Garbling {
  return new Recipe(text, () => garble);
}

function shout(): never {
  throw new Error('loud');
}

const ELEMENTS: readonly unknown[] = [
  ...[undefined, null, 5, 'held', true, {}, [], Symbol('s'), () => 1, { state: 'maybe' }],
  ...[{ state: 'held' }, { state: 'waiting' }, { state: 'gone' }, { state: 'error' }],
  ...[{ state: 'error', error: 'text' }, { state: Symbol('s') }],
  ...[
    { state: 'gone', why: 'because' },
    { state: 'gone', why: 'mismatch', detail: Symbol('s') },
  ],
  ...(['refused', 'full', 'mismatch', 'expired', 'evicted', 'store-reset', 'unknown'] as const).map(
    (why) => ({ state: 'gone', why }),
  ),
  { state: 'waiting', why: 'queue', leftMs: 50, retryInMs: 0 },
  { state: 'waiting', why: 'data-loss', leftMs: Number.NaN, retryInMs: 5 },
  { state: 'waiting', why: 'queue', leftMs: 50, retryInMs: 'soon' },
];

/** What replaces a part of an answer that is right otherwise. */
const PARTS: readonly object[] = [
  ...[Number.NaN, -1, Number.POSITIVE_INFINITY, 1e300, '5', null, 5n].map((leftMs) => ({ leftMs })),
  ...[5, '5', undefined, -1n, null, Number.NaN].map((token) => ({ token })),
  ...[Number.NaN, '1', undefined].map((waiters) => ({ waiters })),
  ...[null, {}, 5, { reason: 'x', token: 1n }, { reason: 'expired', token: 1 }].map((takeover) => ({
    takeover,
  })),
  ...['held', 'HELD', 1].map((state) => ({ state })),
];

const WHOLE = [
  ...plain(undefined, null, 5, 'held', {}, [], [undefined], { length: 1 }, new Array(50)),
];

const REJECTIONS: readonly unknown[] = [
  ...[undefined, null, 'text', Symbol('s'), 5n, {}, Object.create(null), new Error('plain')],
  Object.freeze(new Error('frozen')),
  ...[
    { retryable: true, outcome: 'unknown' } as const,
    { retryable: false, outcome: 'failed' } as const,
  ].map((how) => new StoreError('of the store', how)),
];

const QUICK: readonly Garbling[] = [
  ...WHOLE.map(({ text, make }) => garbling(`answers ${text}`, () => make(undefined as never))),
  ...ELEMENTS.map((element) =>
    garbling(`elements ${show(element)}`, (answer) =>
      Array.isArray(answer) ? answer.map(() => element) : element,
    ),
  ),
  ...PARTS.map((part) =>
    garbling(`parts ${show(part)}`, (answer) =>
      Array.isArray(answer) ? answer.map((each) => ({ ...each, ...part })) : part,
    ),
  ),
  ...REJECTIONS.map((reason) =>
    garbling(`rejects ${show(reason).split('\n')[0]}`, () => Promise.reject(reason)),
  ),
  garbling('throws at once', shout),
  garbling('is one too short', (answer) => (Array.isArray(answer) ? answer.slice(1) : answer)),
  garbling('is one too long', (answer) => (Array.isArray(answer) ? [...answer, answer[0]] : 1)),
  garbling('a thenable that settles twice', (answer) =>
    thenable((resolve: (value: unknown) => void) => {
      resolve(answer);
      resolve(undefined);
    }),
  ),
];

/** Only stores that are not synchronous may be slow. */
const SLOW: readonly Garbling[] = [
  garbling('is silent', () => new Promise(() => {})),
  garbling(
    'is late',
    (answer, clock) => new Promise((resolve) => clock.setTimeout(() => resolve(answer), 700)),
  ),
];

const FINE = garbling('is right', (answer) => answer);

function show(value: unknown): string {
  try {
    return inspect(value);
  } catch {
    return 'a loud proxy';
  }
}

export interface Garblings {
  readonly traits: Partial<Traits>;
  /** Taken one after the other, by whatever verb is called; then the store is honest. */
  readonly script: readonly Garbling[];
}

export const garblings: fc.Arbitrary<Garblings> = fc
  .record({
    synchronous: fc.boolean(),
    sequential: fc.boolean(),
    hintsGrant: fc.boolean(),
    queue: fc.boolean(),
  })
  .chain((traits) => {
    const all = traits.synchronous ? QUICK : [...QUICK, ...SLOW, ...SLOW, ...SLOW];
    const each = fc.oneof(
      { weight: 2, arbitrary: fc.constant(FINE) },
      { weight: 3, arbitrary: fc.constantFrom(...all) },
    );
    const script = fc.array(each, { minLength: 1, maxLength: 40, size: 'max' });
    return script.map((entries) => ({ traits, script: entries }));
  });

export class GarbledStore implements Store {
  readonly name = 'garbled';
  readonly traits: Traits;
  readonly truth: MemoryStore;
  garbled = 0;
  readonly #clock: FakeClock;
  readonly #script: Garbling[];

  constructor(clock: FakeClock, { traits, script }: Garblings) {
    this.#clock = clock;
    this.truth = memoryStore({ clock });
    this.traits = { ...this.truth.traits, ...traits };
    this.#script = [...script];
  }

  get lineage(): string {
    return this.truth.lineage;
  }

  readonly claim: Store['claim'] = (claims) => this.#say(this.truth.claim(claims));
  readonly renew: Store['renew'] = (claims) => this.#say(this.truth.renew(claims));
  readonly release: Store['release'] = (claims, after) =>
    this.#say(this.truth.release(claims, after));
  readonly inspect: Store['inspect'] = (resource) => this.#say(this.truth.inspect(resource));
  readonly evict: NonNullable<Store['evict']> = (...args) =>
    this.#say(this.truth.evict?.(...args) ?? Promise.resolve(false));
  readonly downgrade: NonNullable<Store['downgrade']> = (claim) =>
    this.#say(this.truth.downgrade?.(claim) as Promise<ClaimStatus>);
  readonly keep: NonNullable<Store['keep']> = (claim, record) =>
    this.#say(this.truth.keep?.(claim, record) ?? Promise.resolve(false));
  readonly recall: NonNullable<Store['recall']> = (resource) =>
    this.#say(this.truth.recall?.(resource) ?? Promise.resolve(undefined));
  readonly watch: NonNullable<Store['watch']> = (claim, wake) => {
    const garbledWake: Wake = (hint) => {
      const said = this.#next()(hint, this.#clock);
      if (!(said instanceof Promise)) wake(said as ClaimStatus);
      else said.then((late) => wake(late as ClaimStatus)).catch(() => wake(hint));
      wake(hint);
    };
    return this.#say(this.truth.watch?.(claim, quietly(garbledWake)) as Promise<AsyncDisposable>);
  };
  readonly list: NonNullable<Store['list']> = (prefix) => {
    const said = this.#next()(this.truth.list?.(prefix), this.#clock);
    // Nobody expects a promise here, so nobody handles its rejection.
    if (said instanceof Promise) said.catch(() => {});
    return said as AsyncIterable<string>;
  };

  honest(): void {
    this.#script.length = 0;
  }

  #next(): Garble {
    const recipe = this.#script.shift() ?? FINE;
    if (recipe !== FINE) this.garbled++;
    return recipe.make(undefined as never);
  }

  /** Garbled as soon as the work is done; at once where the garbling needs no answer. */
  #say<T>(answer: Promise<T>): Promise<T> {
    const garble = this.#next();
    if (garble === shout) return garble(answer, this.#clock) as never;
    return answer.then((value) => garble(value, this.#clock)) as Promise<T>;
  }
}

/** What a wake throws is the store's own concern. */
function quietly(wake: Wake): Wake {
  return (hint) => {
    try {
      wake(hint);
    } catch {
      // The garbling has thrown.
    }
  };
}
