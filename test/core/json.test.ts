/** What a program logs or answers with goes into JSON, with tokens as text. */
import { createLocks, LeaseLostError, type LockEventName, type LockEvents } from 'holdfast';
import { StaleTokenError } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { once } from 'holdfast/once';
import { expect, onTestFinished, test } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: whatever is in it.
const json = (value: unknown): any => JSON.parse(JSON.stringify(value));

function two() {
  const store = memoryStore();
  const [locks, other] = [createLocks(store), createLocks(store)];
  onTestFinished(() => locks.close());
  onTestFinished(() => other.close());
  return { locks, other };
}

test('a lease, its takeover, and every event of it', async () => {
  const { locks } = two();
  const seen: unknown[] = [];
  for (const name of ['acquiring', 'acquired', 'released'] satisfies LockEventName[]) {
    locks.on(name, (event: LockEvents[typeof name]) => seen.push(json(event)));
  }
  const mutex = locks.mutex('a');
  const lease = await mutex.acquire();
  const next = mutex.acquire();
  await lease.release();
  const { token, takeover, release } = await next;
  expect(json(lease)).toMatchObject({ resource: 'a', token: String(lease.token) });
  expect(json(takeover)).toEqual({ reason: 'released', token: String(lease.token) });
  await release();
  expect(seen).toMatchObject([
    { resource: 'a', acquisition: { store: 'memory' } },
    { token: String(lease.token) },
    { resource: 'a' },
    { token: String(lease.token) },
    { token: String(token), takeover: { token: String(lease.token) }, handOff: 'local' },
    { token: String(token) },
  ]);
});

test('why a lock was not free, and the queue', async () => {
  const { locks, other } = two();
  await using lease = await locks.mutex('a').acquire();
  const token = String(lease.token);
  const holders = [{ number: token }];
  expect(json(await other.mutex('a').tryRun(() => {}))).toMatchObject({ acquired: false, holders });
  expect(json(await other.inspect('a'))).toMatchObject({ holders });
  const late = await other
    .mutex('a')
    .run({ wait: 1 }, () => {})
    .catch((error: unknown) => error);
  expect(json(late)).toMatchObject({
    ...{ name: 'AcquireTimeoutError', code: 'ACQUIRE_TIMEOUT', resource: 'a', holders },
    message: (late as Error).message,
  });
});

test('a job that was done', async () => {
  const { locks } = two();
  const ran = await once(locks, 'o', { keepFor: '1m' }, () => 1);
  expect(json(ran)).toEqual({ state: 'ran', value: 1 });
  const done = await once(locks, 'o', { keepFor: '1m' }, () => 1);
  expect(json(done)).toMatchObject({ state: 'done', token: expect.stringMatching(/^\d+$/) });
});

test('errors, with the message of their cause', () => {
  expect(json(new StaleTokenError('a', 2n ** 60n, 2n ** 61n))).toMatchObject({
    ...{ name: 'StaleTokenError', code: 'STALE_TOKEN', resource: 'a' },
    ...{ token: String(2n ** 60n), seen: String(2n ** 61n) },
  });
  const cause = Object.assign(new Error('why'), { self: {} });
  cause.self = cause;
  expect(json(new LeaseLostError('a', 'expired', { cause }))).toMatchObject({
    ...{ name: 'LeaseLostError', reason: 'expired', cause: 'why' },
    message: expect.stringContaining('no heartbeat'),
  });
});
