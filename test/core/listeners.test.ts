/** Listeners may do anything with the locks that they hear of. */
import { type Lease, list } from 'holdfast';
import { afterEach, expect, vi } from 'vitest';
import { it, setUp, watchOutcome } from '../support/scripted-store.ts';

afterEach(() => vi.restoreAllMocks());

it('one that aborts a wait that has just been granted disturbs nobody', async ({ bed }) => {
  const mutex = bed.locks.mutex('a');
  const first = await mutex.acquire();
  const controller = new AbortController();
  const second = watchOutcome(mutex.acquire({ signal: controller.signal }));
  const third = watchOutcome(mutex.acquire());
  bed.locks.on('acquired', () => controller.abort());
  await first.release();
  await bed.clock.rest();
  expect(second.value?.held).toBe(true);
  await second.value?.release();
  await bed.clock.rest();
  expect(third.value?.held).toBe(true);
});

it('one that releases the lease once more does not take it from the next holder', async () => {
  for (const event of ['released', 'acquired'] as const) {
    const { clock, store, locks } = setUp();
    const mutex = locks.mutex('a');
    const first = await mutex.acquire();
    const second = watchOutcome(mutex.acquire());
    locks.on(event, () => void first.release());
    await first.release();
    await clock.rest();
    expect(second.value?.held).toBe(true);
    expect(store.sent('release')).toHaveLength(0);
  }
});

it('one that is added by a listener hears of later events only', async ({ clock, locks }) => {
  let heard = 0;
  const listen = (): void => {
    locks.on('acquired', () => {
      heard++;
      listen();
    });
  };
  listen();
  const leases: Lease[] = [];
  for (const name of ['a', 'b']) {
    void locks
      .mutex(name)
      .acquire()
      .then((lease) => leases.push(lease));
    await clock.rest();
  }
  expect([leases.length, heard]).toEqual([2, 1 + 2]);
});

it('one that rejects causes a warning', async ({ clock, locks }) => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  locks.on('acquired', async () => {
    throw new Error('mine');
  });
  await locks.mutex('a').acquire();
  await clock.rest();
  expect(warned).toHaveBeenCalledWith(expect.stringContaining('mine'));
});

it('what is thrown into a list comes back as it is', async ({ locks, store }) => {
  Object.assign(store, {
    async *list() {
      yield 'a';
    },
  });
  const names = list(locks);
  await names.next();
  const reason = new Error('mine');
  await expect(names.throw(reason)).rejects.toBe(reason);
});
