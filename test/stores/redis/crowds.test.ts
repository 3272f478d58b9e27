/** Queues of thousands, clocks that go back, claims and messages that core never sends. */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { SteppedClock } from '../../servers/stepped-clock.ts';
import { Bed } from './bed.ts';

/** More arguments than these a script cannot pass to a command. */
const MOST_ARGUMENTS = 8_000;

/** Steps of the clock are this large, in ms, so that no slowness is taken for one. */
const HOUR_MS = 3_600_000;

const READER = { kind: 'read', limit: 2 ** 30 } as const;
const WRITER = { kind: 'write', limit: 2 ** 30, permits: 2 ** 30 } as const;

let bed: Bed;
let clock: SteppedClock;
let server: RedisServer;
let store: Store;

beforeEach(async () => {
  bed = new Bed();
  clock = bed.serve(await SteppedClock.create());
  server = bed.serve(await RedisServer.start({ env: clock.env }));
  store = bed.store(server, { afterDataLoss: 'trust' });
});
afterEach(() => bed[Symbol.asyncDispose]());

async function enter(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
  const batches = Array.from({ length: Math.ceil(claims.length / 100) }, (_, i) =>
    store.claim(claims.slice(i * 100, (i + 1) * 100)),
  );
  return (await Promise.all(batches)).flat();
}

async function hold(over: Partial<Claim> = {}): Promise<{ claim: Claim; token: bigint }> {
  const claim = claimOf('a', { ttlMs: HOUR_MS, ...over });
  const [status] = await store.claim([claim]);
  if (status?.state !== 'held') throw new Error(`not held: ${JSON.stringify(status)}`);
  return { claim, token: status.token };
}

it('lets in thousands of readers at once', async () => {
  const { claim } = await hold(WRITER);
  const readers = Array.from({ length: MOST_ARGUMENTS / 2 }, () => claimOf('a', READER));
  await enter(readers);
  expect(await store.release([claim])).toEqual([true]);
  const { holders, waiters } = await store.inspect('a');
  expect([holders.length, waiters.length]).toEqual([readers.length, 0]);
});

it('gets over thousands of waiters that died together', async () => {
  const { claim } = await hold({ ttlMs: 3 * HOUR_MS });
  const dead = Array.from({ length: MOST_ARGUMENTS }, () => claimOf('a', { ttlMs: HOUR_MS }));
  const living = claimOf('a', { ttlMs: 3 * HOUR_MS });
  const statuses = await enter([...dead, living]);
  expect(statuses.every(({ state }) => state === 'waiting')).toBe(true);
  clock.step(2 * HOUR_MS);
  expect(await store.release([claim])).toEqual([true]);
  expect(await store.renew([living])).toMatchObject([{ state: 'held', waiters: 0 }]);
});

it('keeps tombstones apart, and none for longer than others come', async () => {
  await hold({ ttlMs: 10 * HOUR_MS });
  const bury = (): Promise<readonly boolean[]> =>
    store.release(
      Array.from({ length: 100 }, () => claimOf('a', { ttlMs: HOUR_MS, unanswered: true })),
    );
  for (let i = 0; i < 5; i++) await bury();
  const fields = Number(await server.command('HLEN', 'holdfast::a'));
  const values = (await server.command('HVALS', 'holdfast::a')) as readonly string[];
  expect(Math.max(...values.map(({ length }) => length))).toBeLessThan(500);
  for (let i = 0; i < 5; i++) {
    clock.step((2 * HOUR_MS) / 5);
    await bury();
    await bury();
  }
  expect(await server.command('HLEN', 'holdfast::a')).toBeLessThanOrEqual(2 * fields);
});

it('gives no number again whose holder died while the clock was behind', async () => {
  const first = await hold();
  await store.release([first.claim]);
  clock.step(-10 * HOUR_MS);
  const second = await hold({ ttlMs: HOUR_MS });
  expect(second.token).toBeGreaterThan(first.token);
  clock.step(3 * HOUR_MS);
  expect(await server.command('EXISTS', 'holdfast::a')).toBe(0);
  const third = await hold();
  expect(third.token).toBeGreaterThan(second.token);
});

it('forgets no number that was raised ahead of the clock', async () => {
  const { claim, token } = await hold();
  const raised = token + BigInt(10 * HOUR_MS) * 1000n;
  await store.raise?.([claim], [raised]);
  clock.step(3 * HOUR_MS);
  expect(await server.command('EXISTS', 'holdfast::a')).toBe(0);
  expect((await hold()).token).toBeGreaterThan(raised);
});

it('refuses a number that it could not keep', async () => {
  const { claim, token } = await hold();
  const [status] = (await store.raise?.([claim], [2n ** 60n])) ?? [];
  expect(status).toMatchObject({ state: 'error', error: { outcome: 'failed' } });
  await store.release([claim]);
  const next = await hold();
  expect(next.token - token).toBeLessThan(BigInt(HOUR_MS) * 1000n);
});

it('tells a holder that is evicted for reasons of several lines', async () => {
  const hints: (ClaimStatus | undefined)[] = [];
  const holder = claimOf('a', { ttlMs: HOUR_MS });
  await store.watch?.(holder, (hint) => hints.push(hint));
  const { token } = await hold(holder);
  await store.evict?.('a', token, { reason: 'first\nsecond', now: false });
  // Its first waiter is another thing to be told of.
  await store.claim([claimOf('a')]);
  await expect.poll(() => hints).toEqual([undefined, undefined]);
  const gone = { state: 'gone', why: 'evicted', detail: 'first\nsecond' };
  expect(await store.renew([holder])).toEqual([gone]);
});

it('rounds up what is no whole number of milliseconds', async () => {
  const claims = [1, 2].map(() => claimOf('a', { ttlMs: 900.25 }));
  const states = (statuses: readonly ClaimStatus[]): string[] => statuses.map(({ state }) => state);
  expect(states(await store.claim(claims))).toEqual(['held', 'waiting']);
  expect(states(await store.renew(claims))).toEqual(['held', 'waiting']);
  const { holders } = await store.inspect('a');
  expect(holders[0]?.ttlMs).toBe(901);
  expect(await store.release(claims, { ms: 0.5 })).toEqual([true, true]);
  const alone = claimOf('b', { ttlMs: 900.25 });
  expect(states(await store.claim([alone]))).toEqual(['held']);
  expect(states(await store.renew([alone]))).toEqual(['held']);
  expect(await store.release([alone])).toEqual([true]);
});

it('keeps names and labels of any text', async () => {
  const label = 'two\nlines, \0, 100 % "quoted" 💥 %s';
  const resource = ' a b\n\0{x}*?[y] ü';
  const holder = { host: 'a b', pid: 1, since: 0, label };
  const claims = [1, 2].map(() => claimOf(resource, { holder }));
  await store.claim(claims);
  const { holders, waiters } = await store.inspect(resource);
  expect([...holders, ...waiters].map((member) => member.holder)).toEqual([holder, holder]);
});

it.each(['', 'x', '?', '1', '1 h', '1 h x', '1 h 5 x', '1 w', '1 g', '1 e', '1 h 1 2 3 - x y'])(
  'does not stumble over the message %j',
  async (message) => {
    const hints: (ClaimStatus | undefined)[] = [];
    const first = claimOf('a');
    await store.watch?.(first, (hint) => hints.push(hint));
    await store.claim([first]);
    const [channel] = (await server.command('PUBSUB', 'CHANNELS')) as [string];
    await server.command('PUBLISH', channel, message);
    // The first message of the store itself comes after it.
    await store.claim([claimOf('a')]);
    await expect.poll(() => hints.at(-1)?.state).toBe('held');
  },
);
