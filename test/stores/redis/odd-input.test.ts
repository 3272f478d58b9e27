/** Claims and messages that core and the scripts never send, but others may. */
import type { Store } from 'holdfast';
import type { ClaimStatus } from 'holdfast/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { Bed } from './bed.ts';

let bed: Bed;
let server: RedisServer;
let store: Store;

beforeEach(async () => {
  bed = new Bed();
  server = await bed.server();
  store = bed.store(server);
});
afterEach(() => bed[Symbol.asyncDispose]());

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
