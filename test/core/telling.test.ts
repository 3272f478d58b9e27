/** What is told beside the life of a lease: for telemetry, and for whoever wants to know. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { type Acquisition, allOf, type LockEvents, type Locks } from 'holdfast';
import { afterEach, expect, vi } from 'vitest';
import { failure, held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

afterEach(() => vi.restoreAllMocks());

const LIFE = ['acquiring', 'missed', 'acquired', 'working', 'released', 'lost'] as const;

type Told = { readonly name: (typeof LIFE)[number]; readonly acquisition: Acquisition };

function hear(locks: Locks): Told[] {
  const told: Told[] = [];
  for (const name of LIFE) {
    locks.on(name, ({ acquisition }: { acquisition: Acquisition }) => {
      told.push({ name, acquisition });
    });
  }
  return told;
}

it('keeps the acquisitions of tasks apart that share a claim, and of permits', async ({ bed }) => {
  const told = hear(bed.locks);
  const run = (): Promise<number> => bed.locks.mutex('a').run(() => 1);
  const semaphore = bed.locks.semaphore('s', { limit: 3 });
  await Promise.all([run(), run(), semaphore.run({ permits: 2 }, () => 1), bed.clock.rest()]);
  for (const acquisition of new Set(told.map((each) => each.acquisition))) {
    const names = told.filter((each) => each.acquisition === acquisition).map(({ name }) => name);
    expect(names).toEqual(['acquiring', 'acquired', 'working', 'released']);
  }
  expect(new Set(told.map(({ acquisition }) => acquisition)).size).toBe(3);
  expect(told.map(({ acquisition }) => acquisition.permits)).toContain(2);
});

it('begins in the context of the caller, before the store is asked', async ({ bed }) => {
  const context = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  bed.locks.on('acquiring', ({ waits }) => {
    seen.push([context.getStore(), waits, bed.store.entered.length]);
  });
  const acquired = context.run('mine', () => bed.locks.mutex('a').acquire());
  const tried = context.run('other', () => bed.locks.mutex('b').tryAcquire());
  expect(seen).toEqual([
    ['mine', true, 0],
    ['other', false, 0],
  ]);
  await Promise.all([acquired, tried, bed.clock.rest()]);
});

it('tells why there is no lease', async ({ clock, store, locks }) => {
  const seen: unknown[] = [];
  locks.on('missed', ({ resource, why, error }) => seen.push([resource, why, error]));
  const broken = failure({ retryable: false, outcome: 'failed' });
  store.onClaim = ({ resource, queue }) => {
    if (resource === 'broken') throw broken;
    return queue ? waiting() : { state: 'gone', why: 'refused' };
  };
  const controller = new AbortController();
  const { signal } = controller;
  const outcomes = [
    locks.mutex('taken').tryAcquire(),
    locks.mutex('slow').acquire({ wait: '1s' }),
    locks.mutex('left').acquire({ signal }),
    locks.mutex('broken').acquire(),
    locks.mutex('early').acquire({ signal: AbortSignal.abort('at once') }),
  ].map(watchOutcome);
  await clock.rest();
  controller.abort('enough');
  await clock.advance(2_000);
  expect(seen).toEqual([
    ['early', 'aborted', 'at once'],
    ['broken', 'failed', broken],
    ['taken', 'taken', undefined],
    ['left', 'aborted', 'enough'],
    ['slow', 'timeout', outcomes[1]?.error],
  ]);
});

it('tells of a lost lease whose beginning nobody heard', async ({ clock, store, locks }) => {
  void locks.mutex('a').acquire();
  await clock.rest();
  const told = hear(locks);
  store.onRenew = () => ({ state: 'gone', why: 'evicted' });
  await clock.advance(4_000);
  const acquisition = { resource: 'a', kind: 'mutex', permits: 1, store: 'scripted' };
  expect(told).toEqual([{ name: 'lost', acquisition }]);
});

it('says how the lease came: from a task here, through the queue, or from nobody', async () => {
  const { clock, store, locks } = setUp();
  const seen: unknown[] = [];
  locks.on('acquired', ({ resource, handOff }) => seen.push([resource, handOff]));
  const run = (name: string): Promise<number> => locks.mutex(name).run(() => 1);
  await Promise.all([run('here'), run('here'), clock.rest()]);
  store.onClaim = () => waiting();
  const ends = { given: 'released', died: 'expired', unknown: undefined } as const;
  store.onRenew = ({ resource }) => {
    const reason = ends[resource as keyof typeof ends];
    return reason ? held({ takeover: { reason, token: 1n } }) : held();
  };
  const runs = Object.keys(ends).map(run);
  await clock.advance(4_000);
  await Promise.all(runs);
  store.onClaim = () => waiting({ why: 'data-loss' });
  const late = run('forgotten');
  await clock.advance(4_000);
  await late;
  expect(seen).toEqual([
    ['here', undefined],
    ['here', 'local'],
    ['died', undefined],
    ['given', 'remote'],
    ['unknown', 'remote'],
    ['forgotten', undefined],
  ]);
});

it('lets listeners choose the context in which the work runs, one inside the other', async () => {
  const { clock, locks } = setUp();
  const contexts = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
  for (const context of contexts) {
    locks.on('working', ({ resource, within }) => within((work) => context.run(resource, work)));
  }
  const both = allOf([locks.mutex('a'), locks.mutex('b')]);
  const seen = async (): Promise<unknown[]> => {
    await null;
    return contexts.map((context) => context.getStore());
  };
  const [single, several, tried] = await Promise.all([
    ...[locks.mutex('x').run(seen), both.run(seen), locks.mutex('y').tryRun(seen)],
    clock.rest(),
  ]);
  expect([single, several]).toEqual([
    ['x', 'x'],
    ['b', 'b'],
  ]);
  expect(tried).toEqual({ acquired: true, value: ['y', 'y'] });
  expect(contexts.map((context) => context.getStore())).toEqual([undefined, undefined]);
});

it('runs the work once, whatever a listener does with it', async ({ clock, locks }) => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const wrongs: Parameters<LockEvents['working']['within']>[0][] = [
    () => {},
    (work) => [work(), work()],
    () => {
      throw new Error('before');
    },
    (work) => {
      work();
      throw new Error('after');
    },
  ];
  let runs = 0;
  for (const wrong of wrongs) {
    const stop = locks.on('working', ({ within }) => within(wrong));
    const fine = locks.mutex('a').run(() => ++runs);
    const failed = watchOutcome(
      locks.mutex('b').run(() => {
        runs++;
        throw new Error('mine');
      }),
    );
    await clock.rest();
    expect(await fine).toBe(runs - 1);
    expect(failed.error).toMatchObject({ message: 'mine' });
    stop();
  }
  expect(runs).toBe(2 * wrongs.length);
  expect(warned).toHaveBeenCalledTimes(4);
});

it('tells of each request of the heartbeat, and how many of its claims failed', async () => {
  const { clock, store, locks } = setUp();
  const seen: LockEvents['heartbeat'][] = [];
  locks.on('heartbeat', (event) => seen.push(event));
  const names = ['a', 'b', 'c'];
  const all = Promise.all(names.map((name) => locks.mutex(name).acquire()));
  await clock.rest();
  await all;
  await clock.advance(3_400);
  const broken = failure();
  store.onRenew = ({ resource }) => {
    return resource === 'b' ? { state: 'error', error: broken } : held();
  };
  await clock.advance(3_400);
  store.onRenew = () => {
    throw broken;
  };
  await clock.advance(3_400);
  const each = { store: 'scripted', claims: 3 };
  expect(seen).toEqual([
    { ...each, failed: 0, cause: undefined },
    { ...each, failed: 1, cause: broken },
    { ...each, failed: 3, cause: broken },
  ]);
});

it('tells of a nested run that waits, and of no wait that ends during the look', async () => {
  const { clock, store, locks, late } = setUp();
  const told: string[] = [];
  locks.on('waiting', ({ resource }) => told.push(resource));
  const mutex = locks.mutex('nested', { reentrant: true });
  const pause = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 2_000));
  void mutex.run(() => Promise.all([mutex.run(pause), mutex.run(pause)]));
  await clock.advance(500);
  store.onClaim = () => waiting();
  const aborter = new AbortController();
  const left = watchOutcome(locks.mutex('left').acquire({ signal: aborter.signal }));
  await clock.advance(900);
  store.onInspect = () => late(100, { holders: [], waiters: [] });
  await clock.advance(150);
  aborter.abort('enough');
  await clock.advance(100);
  expect(left.error).toBe('enough');
  expect(told).toEqual(['nested']);
});

it('is heard on the channels of the process as well, until nobody listens', async ({ bed }) => {
  const seen: unknown[] = [];
  const subscribed = LIFE.map((name) => {
    const subscriber = (event: unknown): void => void seen.push([name, event]);
    const source = channel(`holdfast:${name}`);
    source.subscribe(subscriber);
    return () => source.unsubscribe(subscriber);
  });
  await Promise.all([bed.locks.mutex('a').run(() => 1), bed.clock.rest()]);
  for (const stop of subscribed) stop();
  await Promise.all([bed.locks.mutex('a').run(() => 1), bed.clock.rest()]);
  const lease = { resource: 'a', kind: 'mutex', token: 1024n };
  expect(seen).toMatchObject([
    ['acquiring', { resource: 'a' }],
    ['acquired', lease],
    ['working', { resource: 'a' }],
    ['released', lease],
  ]);
});
