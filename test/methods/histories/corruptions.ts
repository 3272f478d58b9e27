/** Ways to spoil a recorded history so that no order of its operations can be right any more. */
import type { Recorded } from './correct-operations.ts';
import type { CounterOperation, LockOperation } from './models.ts';

/** Undefined if this history gives no occasion to do it provably. */
export type Corruption = (recorded: Recorded, random: () => number) => Recorded | undefined;

type Known<T> = T & { readonly returnedAt: number };

/** A hold of which grant and release are known. */
interface KnownHold {
  readonly acquire: Known<LockOperation>;
  readonly release: Known<LockOperation>;
  readonly permits: number;
  readonly limit: number;
}

function returned<T extends { readonly returnedAt?: number | undefined }>(
  operation: T,
): operation is Known<T> {
  return operation.returnedAt !== undefined;
}

function holdsOf(lock: readonly LockOperation[]): KnownHold[] {
  const known = lock.filter(returned);
  return known.flatMap((acquire) => {
    if (acquire.input.verb === 'release' || typeof acquire.output !== 'bigint') return [];
    const { holder, permits, limit } = acquire.input;
    const release = known.find(({ input }) => input.verb === 'release' && input.holder === holder);
    return release ? [{ acquire, release, permits, limit }] : [];
  });
}

function pick<T>(from: readonly T[], random: () => number): T | undefined {
  return from[Math.floor(random() * from.length)];
}

function pairs<T>(of: readonly T[], fits: (a: T, b: T) => boolean): [T, T][] {
  return of.flatMap((a) => of.filter((b) => a !== b && fits(a, b)).map((b): [T, T] => [a, b]));
}

function replace<T>(all: readonly T[], changes: readonly (readonly [T, T | undefined])[]): T[] {
  const changed = new Map(changes);
  return all.flatMap((each) => {
    const now = changed.has(each) ? changed.get(each) : each;
    return now === undefined ? [] : [now];
  });
}

/** Spoils two holds that fits. */
function holds(
  fits: (a: KnownHold, b: KnownHold) => boolean,
  spoil: (a: KnownHold, b: KnownHold) => readonly (readonly [LockOperation, LockOperation?])[],
): Corruption {
  return (recorded, random) => {
    const pair = pick(pairs(holdsOf(recorded.lock), fits), random);
    if (!pair) return undefined;
    const changes = spoil(...pair).map(([from, to]) => [from, to] as const);
    return { ...recorded, lock: replace(recorded.lock, changes) };
  };
}

/** The second is granted while the first surely holds. */
function overlapped(fits: (a: KnownHold, b: KnownHold) => boolean): Corruption {
  return holds(
    (a, b) => fits(a, b) && a.acquire.returnedAt < a.release.calledAt,
    (a, b) => {
      const start = a.acquire.returnedAt;
      const end = a.release.calledAt;
      const third = (end - start) / 3;
      const inside = { calledAt: start + third, returnedAt: end - third };
      const after = { calledAt: end + 1, returnedAt: end + 2 };
      return [
        [b.acquire, { ...b.acquire, ...inside }],
        [b.release, { ...b.release, ...after }],
      ];
    },
  );
}

const exclusive = (hold: KnownHold): boolean => hold.permits === hold.limit;
const follows = (a: KnownHold, b: KnownHold): boolean => {
  return a.acquire.returnedAt < b.acquire.calledAt;
};

/** Spoils two operations on the counter that fits. */
function counts(
  fits: (a: Known<CounterOperation>, b: Known<CounterOperation>, all: Recorded) => boolean,
  spoil: (a: CounterOperation, b: CounterOperation) => CounterOperation | undefined,
): Corruption {
  return (recorded, random) => {
    const known = recorded.counter.filter(returned);
    const pair = pick(
      pairs(known, (a, b) => fits(a, b, recorded)),
      random,
    );
    if (!pair) return undefined;
    const [a, b] = pair;
    return { ...recorded, counter: replace(recorded.counter, [[b, spoil(a, b)]]) };
  };
}

const tokenOf = ({ input }: CounterOperation): bigint => (input.verb === 'read' ? 0n : input.token);
const seen = ({ output }: CounterOperation): number => (typeof output === 'number' ? output : -1);
const raises = ({ input, output }: CounterOperation): boolean => {
  return output !== 'stale' && !(input.verb === 'enter' && input.shared) && input.verb !== 'read';
};

/** A moment at which nobody can hold: what was granted before is known to have been released. */
function freeTime(lock: readonly LockOperation[], random: () => number) {
  const known = new Map(holdsOf(lock).map((hold) => [hold.acquire as LockOperation, hold]));
  const asks = lock.filter(({ input, output }) => input.verb !== 'release' && output !== false);
  const gaps = asks.flatMap(({ calledAt: end }) => {
    const before = asks.filter(({ calledAt }) => calledAt < end);
    const ends = before.map((each) => known.get(each)?.release.returnedAt ?? Infinity);
    const start = Math.max(0, ...ends);
    const third = (end - start) / 3;
    return third > 0 ? [{ calledAt: start + third, returnedAt: end - third }] : [];
  });
  return pick(gaps, random);
}

export const CORRUPTIONS: Readonly<Record<string, Corruption>> = {
  'tokens change places': holds(follows, (a, b) => [
    [a.acquire, { ...a.acquire, output: b.acquire.output }],
    [b.acquire, { ...b.acquire, output: a.acquire.output }],
  ]),
  'a token is used twice': holds(
    () => true,
    (a, b) => [[b.acquire, { ...b.acquire, output: a.acquire.output }]],
  ),
  'two hold what excludes': overlapped((a, b) => exclusive(a) && exclusive(b)),
  'a reader comes beside a writer': overlapped((a, b) => exclusive(a) && !exclusive(b)),
  'a writer comes beside a reader': overlapped((a, b) => !exclusive(a) && exclusive(b)),
  'a permit too many': overlapped((a, b) => {
    return !exclusive(a) && !exclusive(b) && a.permits + b.permits > a.limit;
  }),
  'more permits than there are': holds(
    () => true,
    (a, { limit }) => [
      [a.acquire, { ...a.acquire, input: { ...a.acquire.input, permits: limit + 1 } as never }],
    ],
  ),
  'a release is left out': holds(
    (a, b) => exclusive(a) && follows(a, b),
    (a) => [[a.release]],
  ),
  'a release comes before its grant': holds(
    () => true,
    (a) => {
      const start = a.acquire.calledAt;
      return [[a.release, { ...a.release, calledAt: start - 2, returnedAt: start - 1 }]];
    },
  ),
  'somebody else releases': holds(
    () => true,
    (a, b) => [[a.release, { ...a.release, input: b.release.input }]],
  ),
  'a try is refused while it is free': (recorded, random) => {
    const when = freeTime(recorded.lock, random);
    const [shape] = recorded.lock.filter(({ input }) => input.verb !== 'release');
    if (!when || !shape) return undefined;
    const input = { ...shape.input, verb: 'try', holder: 'refused' } as LockOperation['input'];
    return { ...recorded, lock: [...recorded.lock, { ...when, input, output: false }] };
  },
  'a return comes before its call': holds(
    (a) => a.acquire.calledAt < a.acquire.returnedAt,
    ({ acquire }) => {
      const { calledAt, returnedAt } = acquire;
      return [[acquire, { ...acquire, calledAt: returnedAt, returnedAt: calledAt }]];
    },
  ),
  'an increment is done twice': counts(
    (a, b) =>
      a.input.verb === 'increment' && b.input.verb === 'increment' && seen(a) > 0 && seen(b) > 0,
    (a, b) => ({ ...b, output: a.output }),
  ),
  'an increment is lost at the end': counts(
    (a, b) => a.input.verb !== 'read' && b.input.verb === 'read' && seen(a) === seen(b),
    (_, b) => ({ ...b, output: seen(b) - 1 }),
  ),
  'an increment that nobody made': counts(
    (_a, b, { counter }) =>
      b.input.verb === 'increment' &&
      seen(b) > 0 &&
      !counter.some(({ input, output }) => input.verb === 'increment' && output === undefined),
    () => undefined,
  ),
  'an old value is read': counts(
    (a, b) => a.returnedAt < b.calledAt && seen(a) === seen(b) && seen(a) > 0,
    (_, b) => ({ ...b, output: seen(b) - 1 }),
  ),
  'a stale token is let in': counts(
    (a, b) =>
      b.output === 'stale' && raises(a) && tokenOf(a) > tokenOf(b) && a.returnedAt < b.calledAt,
    (a, b) => ({ ...b, output: a.output }),
  ),
  'the newest token is refused': counts(
    (_a, b, { counter }) =>
      b.input.verb !== 'read' &&
      !counter.some((each) => tokenOf(each) > tokenOf(b) && each.calledAt <= b.returnedAt),
    (_, b) => ({ ...b, output: 'stale' }),
  ),
};
