/**
 * What calls are made of. A recipe makes its value anew for every run, so that no run spoils the
 * next one, and says what it is when a counterexample is printed.
 */
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { Lease } from 'holdfast';
import type { World } from './world.ts';

/** A value for an argument, and whether the documentation allows it there. */
export interface Made {
  readonly value: unknown;
  readonly valid: boolean;
  /** Work that never ends: whoever waits for it may wait for ever. */
  readonly endless?: boolean;
  /** There is no such thing yet. */
  readonly absent?: boolean;
}

type Make<T> = (world: World) => T;

export class Recipe<T> {
  readonly text: string;
  readonly make: Make<T>;

  constructor(text: string, make: Make<T>) {
    this.text = text;
    this.make = make;
    // For counterexamples.
    Object.defineProperty(this, fc.toStringMethod, { value: () => text });
  }
}

export type Arg = Recipe<Made>;

/** Recipes of values that can be written down. */
export function plain(...values: readonly unknown[]): Recipe<unknown>[] {
  return values.map((value) => new Recipe(show(value), () => value));
}

/** Recipes of what has to be made; the keys say what it is. */
export function made(recipes: Readonly<Record<string, Make<unknown>>>): Recipe<unknown>[] {
  return Object.entries(recipes).map(([text, make]) => new Recipe(text, make));
}

function show(value: unknown): string {
  const text = inspect(value);
  return text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text;
}

function shout(): never {
  throw new Error('a getter that throws');
}

const LOUD: ProxyHandler<object> = {
  get: shout,
  has: shout,
  ownKeys: shout,
  getPrototypeOf: shout,
  getOwnPropertyDescriptor: shout,
};

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** What `await` takes for a promise. */
export function thenable(then: unknown): object {
  return Object.defineProperty({}, 'then', { value: then });
}

class Instance {
  readonly #secret = 1;
  get secret(): number {
    return this.#secret;
  }
}

/** Values that a program without types passes by mistake, or out of malice. */
export const ODD: readonly Recipe<unknown>[] = [
  ...plain(undefined, null, true, false, Number.NaN, -0, -1, 0.5, 1e-320, 2 ** 31, 2 ** 53),
  ...plain(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, 0n, -5n),
  ...plain(2n ** 70n, Symbol('s'), Symbol.iterator, '', ' ', '\0', '\ud800', '\udc00x', '٥s'),
  ...plain('1e3', ' 5s', '5 s', '-1s', '5S', '999999999d', '0x10', 'Infinity', 'NaN', '__proto__'),
  ...plain('constructor', 'x'.repeat(513), 'x'.repeat(10_000), "'; DROP TABLE", '../..', '5s\n'),
  ...plain(`${'9'.repeat(400)}s`, `1.${'0'.repeat(400)}s`, '.5s', '5.s', '1_000', '+5s'),
  ...made({
    '{}': () => ({}),
    '[]': () => [],
    "['5s']": () => ['5s'],
    'an array of holes': () => new Array(2),
    'a huge sparse array': () => new Array(2 ** 32 - 1),
    'an object without prototype': () => Object.create(null) as unknown,
    'a frozen object': () => Object.freeze({ a: 1 }),
    'a function': () => () => 1,
    'an async function': () => async () => 1,
    'a class': () => Instance,
    'an instance': () => new Instance(),
    'a boxed string': () => new String('5s'),
    'a boxed number': () => new Number(5),
    'an invalid date': () => new Date(Number.NaN),
    'a date': () => new Date(0),
    'a map': () => new Map([['ttl', 5]]),
    'a regular expression': () => /5s/g,
    'a typed array': () => new Uint8Array(3),
    'a promise': () => Promise.resolve('5s'),
    'a thenable': () => thenable((resolve: (value: unknown) => void) => resolve('5s')),
    'a thenable that throws': () => thenable(shout),
    'an error': () => new Error('odd'),
    'an error without a name': () => Object.assign(new Error('odd'), { name: undefined }),
    'an iterator without end': () => ({ [Symbol.iterator]: () => ({ next: () => ({}) }) }),
    'a proxy of an object': () => new Proxy({}, {}),
    'a proxy that throws': () => new Proxy({}, LOUD),
    'a proxy of a function': () => new Proxy(() => 1, {}),
    'a revoked proxy': () => revoked({}),
    'a revoked proxy of an array': () => revoked([]),
    'a revoked proxy of a function': () => revoked(() => 1),
    'a getter that throws': () =>
      Object.defineProperty({}, 'ttl', { get: shout, enumerable: true }),
    'an object that is text in the end': () => ({ toString: () => '5s' }),
    'an object that throws as text': () => ({ toString: shout, valueOf: shout, toJSON: shout }),
    'an object that throws when shown': () => ({ [inspect.custom]: shout }),
    'an object with a loud tag': () =>
      Object.defineProperty({}, Symbol.toStringTag, { get: shout }),
    'a circle': () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      return circle;
    },
    globalThis: () => globalThis,
    'a false signal': () => ({ aborted: false, addEventListener: () => {} }),
    'an heir of a signal': () => Object.create(AbortSignal.prototype) as unknown,
    'a proxy of a signal': () => new Proxy(new AbortController().signal, {}),
    'a lock': (world) => world.lock(0),
    'a lease': (world) => world.lease(0),
    'the locks': (world) => world.locks[0],
    'the store': (world) => world.store,
  }),
];

const odd = fc.constantFrom(...ODD);

/**
 * An argument: mostly one of `good`, sometimes one that only looks so, and sometimes an odd one.
 * @param rule what the documentation says; it must not trust the value.
 */
export function slot(
  rule: (value: unknown, world: World) => boolean,
  good: readonly Recipe<unknown>[],
  near: readonly Recipe<unknown>[] = [],
): fc.Arbitrary<Arg> {
  const nearly = near.length > 0 ? fc.constantFrom(...near) : odd;
  return fc
    .oneof(
      { weight: 10, arbitrary: fc.constantFrom(...good) },
      { weight: 1, arbitrary: nearly },
      { weight: 1, arbitrary: odd },
    )
    .map(
      ({ text, make }) =>
        new Recipe(text, (world) => {
          const value = make(world);
          return { value, valid: rule(value, world) };
        }),
    );
}

/** How an object can hold its options. */
const FLAVOURS = [
  ...['plain', 'plain', 'plain', 'plain', 'plain', 'frozen', 'without prototype', 'inherited'],
  ...['getters', 'a proxy', 'other at a second look', 'a proxy of another mind', 'loud'],
] as const;

type Flavour = (typeof FLAVOURS)[number];

type Slots = Readonly<Record<string, fc.Arbitrary<Arg>>>;

/** What has to be right about all options together. */
interface Whole {
  readonly needed?: readonly string[];
  readonly rule?: (said: Said) => boolean;
  /** Whatever else is in the object is of no concern. */
  readonly open?: boolean;
}

/** What options say, as they are read for the first time. */
export type Said = ReadonlyMap<string, unknown>;

/**
 * Options: some of the known ones, sometimes an unknown one, or something that is no options at
 * all. A getter gives the value once and nonsense from then on: who reads an option twice may check
 * one thing and use another.
 */
export function options(slots: Slots, parts: Whole = {}): fc.Arbitrary<Arg> {
  const { needed = [], rule = () => true, open = false } = parts;
  const entries = Object.entries(slots).map(([key, arg]) => arg.map((a) => [key, a] as const));
  const unknown = fc
    .constantFrom('tll', 'Wait', '__proto__', '0', 'constructor', '')
    .map((key) => [key, UNKNOWN] as const);
  const some = fc.array(
    fc.oneof({ weight: 15, arbitrary: fc.oneof(...entries) }, { weight: 1, arbitrary: unknown }),
    { maxLength: 3, size: 'max' },
  );
  const musts = fc.tuple(...entries.filter((_, i) => needed.includes(Object.keys(slots)[i] ?? '')));
  const objects = fc
    .tuple(musts, some, fc.constantFrom(...FLAVOURS))
    .map(([first, rest, flavour]) => objectOf(open ? first : [...first, ...rest], flavour, rule));
  const others = odd.map(
    ({ text, make }) =>
      new Recipe(text, (world) => {
        const value = make(world);
        // A lease is all that a fence asks for.
        if (open && world.leases.includes(value as Lease)) return { value: null, valid: false };
        const none = value === undefined || isEmpty(value);
        return { value, valid: none && needed.length === 0 && rule(new Map()) };
      }),
  );
  return fc.oneof({ weight: 12, arbitrary: objects }, { weight: 1, arbitrary: others });
}

const UNKNOWN: Arg = new Recipe('1', () => ({ value: 1, valid: false }));

function objectOf(
  entries: readonly (readonly [string, Arg])[],
  flavour: Flavour,
  rule: (said: Said) => boolean,
): Arg {
  const text = `${flavour} { ${entries.map(([key, arg]) => `${key}: ${arg.text}`).join(', ')} }`;
  return new Recipe(text, (world) => {
    const said = new Map<string, unknown>();
    let valid = true;
    const last = new Map(entries);
    for (const [key, arg] of last) {
      // Only what an object has itself can be told from what it cannot help having.
      if (flavour === 'inherited' && arg === UNKNOWN) continue;
      const { value, valid: good } = arg.make(world);
      said.set(key, value);
      valid &&= good;
    }
    const loud = flavour === 'loud' && said.size > 0;
    return { value: shape(said, flavour), valid: valid && !loud && rule(said) };
  });
}

function shape(said: Map<string, unknown>, flavour: Flavour): object {
  const object = Object.create(flavour === 'without prototype' ? null : Object.prototype) as object;
  const define = (key: string, descriptor: PropertyDescriptor): void => {
    Object.defineProperty(object, key, { enumerable: true, configurable: true, ...descriptor });
  };
  for (const [key, value] of said) {
    if (flavour === 'loud') define(key, { get: shout });
    else if (flavour === 'getters') define(key, { get: () => value });
    else if (flavour === 'other at a second look') define(key, { get: once(value) });
    else define(key, { value, writable: true });
  }
  if (flavour === 'inherited') return Object.create(object) as object;
  if (flavour === 'frozen') return Object.freeze(object);
  if (flavour === 'a proxy') return new Proxy(object, {});
  if (flavour !== 'a proxy of another mind') return object;
  const seen = new Set<PropertyKey>();
  return new Proxy(object, {
    get(target, key) {
      if (seen.has(key)) return NONSENSE;
      seen.add(key);
      return Reflect.get(target, key) as unknown;
    },
  });
}

const NONSENSE = Symbol('read twice');

function once(value: unknown): () => unknown {
  let reads = 0;
  return () => (reads++ === 0 ? value : NONSENSE);
}

/** An object that says nothing, whatever it is otherwise. */
function isEmpty(value: unknown): boolean {
  try {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return Object.keys(value).length === 0;
  } catch {
    return false;
  }
}
