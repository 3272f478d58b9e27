/** What the users of all pages may do. */
import { downgrade, evict, type Locks, list } from 'holdfast';
import { once } from 'holdfast/once';
import { expect } from 'vitest';
import { listed } from '../../support/listed.ts';

/** All verbs of a store, in the course of what programs do; nobody else has locks in it. */
export async function useAll(
  locks: Locks,
  { passes = true }: { passes?: boolean } = {},
): Promise<void> {
  const lease = await locks.mutex('a').acquire();
  const next = locks.mutex('a', { fair: true }).acquire();
  await lease.renew();
  expect(await listed(list(locks))).toEqual(['a']);
  await lease.release();
  const { token } = await next;
  expect((await locks.inspect('a')).holders).toMatchObject([{ number: token }]);
  expect(await evict(locks, 'a', { token, reason: 'test', now: true })).toBe(true);
  const config = await locks.rwLock('config').write.acquire();
  await downgrade(config);
  await config.release();
  const work = () => once(locks, 'work', { keepFor: '1m' }, () => 'done');
  expect([(await work()).state, (await work()).state]).toEqual(['ran', 'done']);
  if (passes) {
    const given = await locks.mutex('given').acquire();
    const taken = await locks.resume(await given.handOver());
    await taken.release();
  }
  const slow = await locks.mutex('slow', { minHold: '2s' }).acquire();
  await slow.release();
}
