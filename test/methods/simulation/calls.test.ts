/** Calls in any order, chosen and shrunk by fast-check, on an honest store and on a garbled one. */
import fc from 'fast-check';
import { allOf, downgrade, evict, type Lease, list, type MultiLease, tryAllOf } from 'holdfast';
import { createElection, type Term } from 'holdfast/election';
import { once } from 'holdfast/once';
import { refresh } from 'holdfast/refresh';
import { expect, it } from 'vitest';
import { cases } from '../../support/cases.ts';
import { at, Calls, type Codes, claimOf, TAKING, WAIT } from './calls.ts';
import { HONEST, type Script, scripts } from './garbled-store.ts';

const RUNNING: Codes = [...TAKING, 'DEADLOCK'];
const LOADING: Codes = [...RUNNING, 'REFRESH'];
const STANDING: Codes = ['MISMATCH', 'QUEUE_FULL', 'LEASE_LOST'];

const ONCE = { ...WAIT, keepFor: '2s', keepResult: true } as const;
const PAUSES_MS = [0, 1, 30, 200, 700, 1_500, 4_000];

type Work = (lease: Lease | MultiLease) => unknown;

function inside(calls: Calls, n: number): Promise<unknown> {
  const inner = calls.lock(n).run({ wait: 500 }, (lease) => calls.held(lease));
  calls.settles(inner, RUNNING);
  return inner;
}

/** What is done under a lease. */
const WORKS: Readonly<Record<string, (calls: Calls, n: number) => Work>> = {
  returns: () => () => 1,
  throws: (calls, n) => () => {
    throw calls.reason(n);
  },
  rejects: (calls, n) => () => Promise.reject(calls.reason(n)),
  'goes on': (calls) => () => calls.sleep(200),
  'goes on for long': (calls) => () => calls.sleep(3_000),
  'stops on its signal': (calls) => (lease) => calls.sleep(3_000, lease.signal),
  'is ended': (calls) => () => calls.later(),
  'releases, then throws': (calls, n) => (lease) => {
    calls.settles(lease.release());
    throw calls.reason(n);
  },
  aborts: (calls, n) => () => calls.abort(1, n),
  'runs inside': (calls, n) => () => inside(calls, n),
  'runs twice inside': (calls, n) => () => Promise.all([inside(calls, 2), inside(calls, n)]),
  'leaves a run behind': (calls) => () => void inside(calls, 2).catch(() => {}),
  'acquires inside': (calls) => () => calls.take(calls.lock(1).acquire({ wait: 300 })),
};

const LISTENERS: readonly ((calls: Calls) => unknown)[] = [
  () => {
    throw undefined;
  },
  () => Promise.reject(new Error('listener')),
  (calls) => calls.take(calls.lock(0).acquire({ wait: 100 })),
  (calls) => {
    for (const lease of calls.leases) calls.settles(lease.release());
  },
];

type Deed = (calls: Calls, n: number, work: Work) => unknown;

/** The work, under a lease that is watched. */
function held(calls: Calls, work: Work): Work {
  return (lease) => {
    calls.held(lease);
    return work(lease);
  };
}

async function readAll(names: AsyncIterable<string>): Promise<void> {
  for await (const name of names) expect(name).toBeTypeOf('string');
}

/** On any store. */
const DEEDS: Readonly<Record<string, Deed>> = {
  acquire: (calls, n) => calls.take(calls.lock(n).acquire(WAIT)),
  tryAcquire: (calls, n) => calls.take(calls.lock(n).tryAcquire()),
  permits: (calls, n) => {
    const semaphore = calls.own.semaphore('s', { limit: 3 });
    calls.take(semaphore.acquire({ ...WAIT, permits: 1 + (n % 3) }));
  },
  run: (calls, n, work) => {
    const how = { ...WAIT, signal: calls.signal(n) };
    calls.settles(calls.lock(n).run(how, held(calls, work)), RUNNING);
  },
  tryRun: (calls, n, work) => calls.settles(calls.lock(n).tryRun(held(calls, work)), RUNNING),
  once: (calls, n, work) => {
    const how = { ...ONCE, signal: calls.signal(n) };
    calls.settles(once(calls.own, `o${n % 2}`, how, work), RUNNING);
  },
  refresh: (calls, n, work) => {
    const how = { ...WAIT, signal: calls.signal(n), read: () => undefined, load: work };
    calls.settles(refresh<unknown>(calls.own, 'f', how), LOADING);
  },
  renew: (calls, n) => calls.settles(at(calls.leases, n)?.renew(), ['LEASE_LOST']),
  release: (calls, n) => calls.settles(at(calls.leases, n)?.release()),
  'hand over': (calls, n) => {
    const given = at(calls.leases, n)?.handOver();
    calls.settles(given, ['LEASE_LOST', 'UNSUPPORTED']);
    given?.then(
      (text) => calls.take(calls.own.resume(text, WAIT)),
      () => {},
    );
  },
  downgrade: (calls) => {
    const writing = calls.leases.find(({ kind, held }) => kind === 'write' && held);
    calls.settles(writing && downgrade(writing), ['LEASE_LOST', 'UNSUPPORTED']);
  },
  inspect: (calls, n) => calls.settles(calls.own.inspect(`m${n % 2}`)),
  list: (calls) => calls.settles(readAll(list(calls.own))),
  evict: (calls, n) => {
    calls.settles(evict(calls.own, 'm0', { token: BigInt(n) * 1024n, reason: 'any' }));
  },
  rest: (calls) => calls.rest(),
  pause: (calls, n) => calls.rest(at(PAUSES_MS, n)),
};

function two({ own }: Calls) {
  return [own.mutex('m1'), own.mutex('m0')];
}

function both(calls: Calls) {
  return allOf(two(calls));
}

/** Only an honest store is sure to keep its promises. */
const MORE: Readonly<Record<string, Deed>> = {
  'try both': (calls, n) => calls.take(tryAllOf(two(calls), { signal: calls.signal(n) })),
  'acquire both': (calls) => calls.take(both(calls).acquire(WAIT)),
  'run both': (calls, n, work) => {
    const how = { ...WAIT, signal: calls.signal(n) };
    calls.settles(both(calls).run(how, held(calls, work)), RUNNING);
  },
  campaign: (calls, n) => {
    const election = createElection(calls.own, 'e', { seats: 1 + (n % 2) });
    const candidate = election.campaign({ signal: calls.signal(n) });
    calls.generators.push(candidate[Symbol.asyncIterator]());
    if (n > 5) void calls.sleep(n * 100).then(() => calls.settles(candidate.resign()));
  },
  observe: (calls, n) => {
    const how = { signal: calls.signal(n) };
    calls.generators.push(createElection(calls.own, 'e').observe(how));
  },
  'list slowly': (calls) => calls.generators.push(list(calls.own)),
  next: (calls, n) => {
    const next = at(calls.generators, n)?.next();
    const led = next?.then(({ value }) => {
      const { lease } = (value ?? {}) as Partial<Term>;
      if (lease) calls.held(lease);
    });
    calls.settles(led, STANDING, calls.terms);
  },
  return: (calls, n) => calls.settles(at(calls.generators, n)?.return(), STANDING, calls.terms),
  throw: (calls, n) => {
    const thrown = at(calls.generators, n)?.throw(calls.reason(n));
    calls.settles(thrown, STANDING, calls.terms);
  },
  'evict at once': (calls, n) => {
    const lease = at(calls.leases, n);
    if (!lease) return;
    calls.evicted.add(claimOf(lease));
    const how = { token: lease.token, reason: 'any', now: true };
    calls.settles(evict(calls.own, lease.resource, how));
  },
  listen: (calls, n) => {
    let left = 3;
    const event = at(['acquired', 'released', 'lost'] as const, n) ?? 'lost';
    calls.own.on(event, () => (left-- > 0 ? at(LISTENERS, n)?.(calls) : undefined));
  },
  'close the others': (calls, n) => calls.closeOther(n * 50),
  'stand still': ({ clock }, n) => clock.stall(at(PAUSES_MS, n) ?? 0),
  abort: (calls, n) => calls.abort(n, n),
  'a false abort': (calls, n) => {
    const signal = calls.signal(n);
    calls.reasons.add(signal.reason);
    signal.dispatchEvent(new Event('abort'));
  },
  'work ends': ({ unfinished }, n) => unfinished.splice(n, 1)[0]?.(),
};

const ALL: Readonly<Record<string, Deed>> = { ...DEEDS, ...MORE };

function steps(deeds: object, works: readonly string[]) {
  const names = [...Object.keys(deeds), 'rest', 'rest', 'rest', 'release'];
  const step = fc.tuple(fc.constantFrom(...names), fc.nat(9), fc.constantFrom(...works));
  return fc.array(step, { minLength: 3, maxLength: 60, size: 'max' });
}

async function play(
  script: Script,
  all: readonly (readonly [deed: string, n: number, work: string])[],
): Promise<void> {
  const calls = new Calls(script);
  for (const [deed, n, work] of all) await ALL[deed]!(calls, n, WORKS[work]!(calls, n));
  await calls.end();
  expect(calls.problems).toEqual([]);
}

it('calls in any order end as documented, and nothing is left', () => {
  const any = steps(ALL, Object.keys(WORKS));
  return fc.assert(fc.asyncProperty(fc.constant(HONEST), any, play), cases(600));
});

it('calls on a store that answers nonsense end, and all works once it is honest', () => {
  const any = steps(DEEDS, ['returns']);
  return fc.assert(fc.asyncProperty(scripts, any, play), cases(600));
});
