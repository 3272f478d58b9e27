import { allOf } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { setUp } from '../support/scripted-store.ts';

describe('a store that lets one in at a time', () => {
  it('is asked for no claim that others could hold beside it', async () => {
    const { store, locks } = setUp({ permits: false });
    const permits = locks.semaphore('permits', { limit: 3 });
    for (const asked of [
      permits.acquire(),
      permits.tryAcquire({ permits: 2 }),
      locks.rwLock('rw').read.acquire(),
      allOf([locks.mutex('a'), permits]).acquire(),
    ]) {
      await expect(asked).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'permits' });
    }
    expect(store.entered.map(({ kind }) => kind)).toEqual(['mutex']);
  });

  it('gives all permits, or a write lock', async () => {
    const { locks } = setUp({ permits: false });
    expect((await locks.semaphore('permits', { limit: 3 }).acquire({ permits: 3 })).held).toBe(
      true,
    );
    expect((await locks.rwLock('rw').write.acquire()).held).toBe(true);
  });
});
