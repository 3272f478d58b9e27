/** What runs under a lease: work that is done at once, later, badly, or never. */
import type { Lease, LockErrorCode, MultiLease } from 'holdfast';
import { made, type Recipe, thenable } from './recipes.ts';
import type { World } from './world.ts';

type Held = Lease | MultiLease;

/** Everything that a program throws, and what nobody would. */
export const REASONS: Readonly<Record<string, () => unknown>> = {
  'an error': () => new Error('mine'),
  undefined: () => undefined,
  null: () => null,
  0: () => 0,
  'not a number': () => Number.NaN,
  text: () => 'mine',
  'a symbol': () => Symbol('mine'),
  'an object without prototype': () => Object.create(null) as unknown,
  'a frozen error': () => Object.freeze(new Error('mine')),
  'a proxy': () => new Proxy(new Error('mine'), {}),
  'a function': () => () => 1,
};

function work(act: (world: World, lease: Held) => unknown): (world: World) => unknown {
  return (world) => (lease: Held) => {
    world.held(lease);
    return act(world, lease);
  };
}

/** What a run inside a run may end with. */
const INNER: readonly LockErrorCode[] = [
  ...(['DEADLOCK', 'LEASE_LOST', 'MISMATCH', 'CLOSED', 'QUEUE_FULL', 'ACQUIRE_TIMEOUT'] as const),
];

function thrown(world: World, reason: unknown): never {
  throw world.reason(reason);
}

function inside(world: World, at: number): Promise<unknown> {
  const inner = world.lock(at).run({ wait: 500 }, (lease) => world.held(lease));
  world.track('a run inside a run', inner, INNER);
  return inner;
}

const FAILURES = Object.entries(REASONS).flatMap(([text, reason]) => [
  [`throws ${text}`, work((world) => thrown(world, reason()))] as const,
  [`rejects with ${text}`, work((world) => Promise.reject(world.reason(reason())))] as const,
]);

export const WORKS: readonly Recipe<unknown>[] = made({
  ...Object.fromEntries(FAILURES),
  'returns at once': work(() => 1),
  'returns nothing': work(() => undefined),
  'is asynchronous': work(async () => 1),
  'goes on for a while': work((world) => world.sleep(200)),
  'goes on for long': work((world) => world.sleep(12_000)),
  'stops on its signal': work((world, lease) => world.sleep(20_000, lease.signal)),
  'waits to be settled': work((world) => world.later()),
  'waits to be settled, too': work((world) => world.later()),
  'endless: never settles': work(() => new Promise(() => {})),
  'endless: a thenable that is silent': work(() => thenable(() => {})),
  'returns a thenable': work(() => thenable((resolve: (n: number) => void) => resolve(1))),
  'returns a thenable that settles twice': work(() =>
    thenable((resolve: (n: number) => void, reject: (n: number) => void) => {
      resolve(1);
      reject(2);
      resolve(3);
    }),
  ),
  'returns a thenable that throws': work((world) =>
    thenable(() => thrown(world, new Error('then'))),
  ),
  'returns its lease': work((_, lease) => lease),
  'releases its lease': work((_, lease) => lease.release()),
  'releases without waiting, then throws': work((world, lease) => {
    world.track('release in work', lease.release(), []);
    thrown(world, new Error('after release'));
  }),
  'aborts a signal': work((world) => world.controllers[1]?.abort(world.reason('from work'))),
  'runs inside': work((world) => inside(world, 0)),
  'runs inside, re-entrant': work((world) => inside(world, 2)),
  'runs twice inside': work((world) => Promise.all([inside(world, 2), inside(world, 3)])),
  'leaves a run behind': work((world) => void inside(world, 2).catch(() => {})),
  'acquires inside': work((world) => {
    const inner = world.lock(1).acquire({ wait: 300 });
    world.track(
      'an acquire inside a run',
      inner.then((lease) => world.held(lease)),
      INNER,
    );
  }),
  'closes the other locks': work((world) => {
    world.closed = true;
    world.track('close in work', world.locks[1]?.close({ drain: 50 }) ?? Promise.resolve(), []);
  }),
  'throws its signal': work((world, lease) => thrown(world, lease.signal)),
});
