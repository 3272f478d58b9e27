/** What is done with leases, candidates, events, queues, and the locks themselves. */

import {
  downgrade,
  type EvictOptions,
  evict,
  type Lease,
  type LockErrorCode,
  type LockEventName,
  type Locks,
  list,
  type MultiLease,
} from 'holdfast';
import type { CampaignOptions, Candidate, Election, ObserveOptions, Term } from 'holdfast/election';
import { acquireOptions, duration, name, signal } from './lock-steps.ts';
import { complain } from './process-watch.ts';
import { made, options, plain, Recipe, slot } from './recipes.ts';
import { isFlag, isFunction, isPositive, isText, maybe } from './rules.ts';
import { deed, given, step, type Weighted } from './step.ts';
import { REASONS } from './works.ts';
import { placeOf, type World } from './world.ts';

type Generator = AsyncGenerator<unknown, void, void>;

const CLOSED: readonly LockErrorCode[] = ['CLOSED'];
const CAMPAIGN: readonly LockErrorCode[] = ['MISMATCH', 'QUEUE_FULL', 'CLOSED', 'LEASE_LOST'];

const lease = given('lease', (world, n) => world.lease(n));
const multi = given('multi-lease', (world, n) => world.thing('multi-lease', n));
const election = given('election', (world, n) => world.thing('election', n));
const candidate = given('candidate', (world, n) => world.thing('candidate', n));
const generator = given('generator', (world, n) => world.thing('generator', n));
const locks = given('locks', (world, n) => world.locks[n % 2]);

/** What a lease says of itself at one moment has to agree; the signal follows a microtask later. */
async function readAll(each: Lease): Promise<void> {
  const { held, remainingMs, state, signal: aborts, loss, token, takeover } = each;
  const alive = state === 'held' || state === 'unconfirmed';
  const early = aborts.aborted && state !== 'lost';
  const agree = held === alive && held === remainingMs > 0 && !early;
  if (!agree || (loss !== undefined) !== (state === 'lost')) {
    complain('a lease contradicts itself', { held, remainingMs, state, aborts, loss });
  }
  const { resource, kind, permits, lineage, since } = each;
  const said = { resource, kind, permits, lineage, since };
  for (const [key, value] of Object.entries(said)) if (value === undefined) complain(`no ${key}`);
  if (typeof token !== 'bigint' || (takeover && takeover.token >= token)) {
    complain('tokens do not grow', { token, takeover });
  }
  if (JSON.parse(JSON.stringify(each)).token !== String(token)) complain('no token in JSON');
  await Promise.resolve();
  if (state === 'lost' && !aborts.aborted) complain('a loss that was read does not abort');
}

/** Methods may be taken off a lease. */
function bare<K extends 'release' | 'renew' | 'assertHeld'>(
  key: K,
): (_: World, each: Lease | undefined) => unknown {
  return (_, each) => {
    const method = each?.[key];
    return method?.();
  };
}

const LEASE_STEPS = [
  step('lease.release', [lease], bare('release'), { weight: 10 }),
  step('lease.release, twice', [lease], (_, each?: Lease) =>
    Promise.all([each?.release(), each?.release()]),
  ),
  step('lease[Symbol.asyncDispose]', [lease], (_, each?: Lease) => each?.[Symbol.asyncDispose]()),
  step('lease.renew', [lease], bare('renew'), { codes: ['LEASE_LOST'], weight: 4 }),
  step('downgrade', [lease], (_, each?: Lease) => each && downgrade(each), {
    codes: ['LEASE_LOST', 'UNSUPPORTED'],
    weight: 4,
  }),
  step('lease.assertHeld', [lease], bare('assertHeld'), { codes: ['LEASE_LOST'], weight: 4 }),
  step('lease properties', [lease], (_, each?: Lease) => each && readAll(each), { weight: 6 }),
  step('lease.ended', [lease], (_, each?: Lease) => each?.ended, { weight: 3 }),
  step('multiLease.release', [multi], (_, each?: MultiLease) => each?.release(), { weight: 4 }),
  step('multiLease.assertHeld', [multi], (_, each?: MultiLease) => each?.assertHeld(), {
    codes: ['LEASE_LOST'],
  }),
  step('multiLease properties', [multi], (_, each?: MultiLease) => {
    if (!each) return;
    const { held, remainingMs, signal: aborts, loss } = each;
    if (held !== remainingMs > 0) complain('a multi-lease contradicts itself');
    if (loss && held && !aborts.aborted) complain('a lost multi-lease does not say so');
  }),
];

function keepTerm(world: World, promise: Promise<IteratorResult<unknown, void>> | undefined) {
  return promise?.then(({ value }) => {
    const term = value as Partial<Term> | undefined;
    if (term?.lease) world.held(term.lease);
  });
}

const ELECTION_STEPS = [
  step(
    'election.campaign',
    [election, options({ label: acquireOptions.label, signal })],
    (world, each: Election, said: CampaignOptions) => {
      world.keep('candidate', each.campaign(said));
    },
  ),
  step('election.standings', [election], (_, each: Election) => each.standings(), {
    codes: CLOSED,
  }),
  step(
    'election.observe',
    [election, options({ every: slot(maybe(isPositive), plain(100, '1s'), plain(0)), signal })],
    (world, each: Election, said: ObserveOptions) => {
      world.keep('generator', each.observe(said));
    },
  ),
  step('candidate.resign', [candidate], (_, each?: Candidate) => each?.resign(), { weight: 3 }),
  step('candidate properties', [candidate], (_, each?: Candidate) => {
    if (each && (each.state === 'leader') !== (each.lease !== undefined)) {
      complain('a candidate contradicts itself');
    }
  }),
  step('candidate[Symbol.asyncIterator]', [candidate], (world, each?: Candidate) => {
    if (each) world.keep('generator', each[Symbol.asyncIterator]());
  }),
  step('generator.next', [generator], (world, each?: Generator) => keepTerm(world, each?.next()), {
    codes: CAMPAIGN,
    weight: 6,
  }),
  step('generator.return', [generator], (_, each?: Generator) => each?.return(), {
    codes: CAMPAIGN,
  }),
  step(
    'generator.throw',
    [generator],
    (world, each?: Generator) => each?.throw(world.reason(new Error('into a generator'))),
    { codes: CAMPAIGN, weight: 1 },
  ),
];

const token = slot(
  (value) => typeof value === 'bigint',
  [
    ...plain(0n, 1n, -7n, 2n ** 70n),
    ...made({ 'its token': (world) => world.lease(0)?.token ?? 1n }),
  ],
  plain(1, '1', null),
);

/** Never at once: that is a step of its own, because two may believe to hold then. */
const later = slot(maybe(isFlag), plain(false, undefined), plain('no', 0)).map(
  ({ text, make }) =>
    new Recipe(text, (world) => {
      const made = make(world);
      return made.value === true ? { value: 1, valid: false } : made;
    }),
);

const QUEUE_STEPS = [
  step('inspect', [locks, name], (_, each: Locks, text: string) => each.inspect(text), {
    codes: CLOSED,
  }),
  step(
    'list',
    [
      locks,
      slot(
        (text) => text === undefined || text === '' || isText(text, Number.POSITIVE_INFINITY),
        plain('', 'a', '\0', 'x'.repeat(10_000), undefined),
        plain('\ud800', 5, null),
      ),
    ],
    (world, each: Locks, prefix: string) => world.keep('generator', list(each, prefix)),
  ),
  step(
    'evict',
    [
      locks,
      name,
      options(
        {
          token,
          reason: slot((text) => isText(text, 1024), plain('fuzz'), plain('', null)),
          now: later,
        },
        { needed: ['token', 'reason'] },
      ),
    ],
    (_, each: Locks, text: string, said: EvictOptions) => evict(each, text, said),
    { codes: CLOSED },
  ),
  step(
    'evict now',
    [lease],
    (world, each?: Lease) => {
      if (!each) return undefined;
      world.evicted.add(placeOf(each));
      const text = each.resource;
      const [locks] = world.locks;
      return locks && evict(locks, text, { token: each.token, reason: 'fuzz', now: true });
    },
    { codes: CLOSED },
  ),
];

/** So that listeners that cause events come to an end. */
function sometimes(act: (world: World) => unknown): (world: World) => () => unknown {
  return (world) => {
    let left = 3;
    return () => (left-- > 0 ? act(world) : undefined);
  };
}

const listener = slot(
  isFunction,
  made({
    'a listener': () => () => {},
    'a listener that throws': () => () => {
      throw new Error('listener');
    },
    'a listener that throws nothing': () => () => {
      throw undefined;
    },
    'a listener that rejects': () => async () => {
      throw new Error('asynchronous listener');
    },
    'a listener that aborts': sometimes((world) => {
      for (const each of world.controllers) each.abort(world.reason(Symbol('listener')));
    }),
    'a listener that acquires': sometimes((world) => {
      const taken = world.lock(0).acquire({ wait: 100 });
      const codes = ['ACQUIRE_TIMEOUT', 'LEASE_LOST', 'MISMATCH', 'QUEUE_FULL', 'CLOSED'] as const;
      world.track(
        'acquire in a listener',
        taken.then((got) => world.held(got)),
        codes,
      );
    }),
    'a listener that releases everything': sometimes((world) => {
      for (const each of world.leases) world.track('release in a listener', each.release(), []);
    }),
    'a listener that listens': sometimes((world) => {
      const listens = (): void => {
        world.locks[0]?.on('acquired', () => listens());
      };
      listens();
    }),
    'a listener that closes': (world) => () => {
      if (world.leases.length < 20) return;
      world.closed = true;
      world.track('close in a listener', world.locks[0]?.close() ?? Promise.resolve(), []);
    },
  }),
);

const EVENTS = ['acquired', 'slow', 'unconfirmed', 'lost', 'released', 'mismatch', 'quarantine'];

const FREQUENT = ['acquired', 'acquired', 'released', 'lost', 'mismatch'];

const LOCKS_STEPS = [
  step(
    'on',
    [
      locks,
      slot(
        (event) => EVENTS.includes(event as string),
        plain(...EVENTS, ...FREQUENT),
        plain('losst', 'Lost'),
      ),
      listener,
    ],
    (world, each: Locks, event: LockEventName, listens: () => void) =>
      world.keep('stop', each.on(event, listens)),
    { weight: 10 },
  ),
  step(
    'stop listening',
    [given('stop', (world, n) => world.thing('stop', n))],
    (_, stop?: () => void) => stop?.(),
  ),
  step(
    'close',
    [given('locks', (world, n) => world.locks[n % 4 === 0 ? 0 : 1]), options({ drain: duration })],
    (world, each: Locks, said: object) => {
      const closing = each.close(said);
      world.closed = true;
      return closing;
    },
    { weight: 1 },
  ),
  step('memoryStore.forget', [], (world) => world.memory.forget(), { weight: 1 }),
];

const reasons = Object.values(REASONS);
const PAUSES_MS = [0, 1, 20, 60, 200, 1_000, 4_000, 11_000];

const DEEDS = [
  deed('rest', 25, (world) => world.rest()),
  deed('time passes', 12, (world, n) => world.rest(PAUSES_MS[n])),
  deed('the process stands still', 1, (world, n) => world.clock.stall(PAUSES_MS[n] ?? 0)),
  deed('abort', 3, (world, n) => {
    const reason = world.reason(reasons[(n * 7) % reasons.length]?.());
    const controller = world.controllers[n % 4];
    controller?.abort(reason);
    world.reason(controller?.signal.reason);
  }),
  deed('a false abort event', 1, (world, n) => {
    world.reason(world.signal(n).reason);
    world.signal(n).dispatchEvent(new Event('abort'));
  }),
  deed('work ends', 6, (world, n) => world.unfinished.splice(n, 1)[0]?.resolve(n)),
  deed('work fails', 2, (world, n) =>
    world.unfinished.splice(n, 1)[0]?.reject(world.reason(reasons[n]?.())),
  ),
];

export const OTHER_STEPS: readonly Weighted[] = [
  ...LEASE_STEPS,
  ...ELECTION_STEPS,
  ...QUEUE_STEPS,
  ...LOCKS_STEPS,
  ...DEEDS,
];
