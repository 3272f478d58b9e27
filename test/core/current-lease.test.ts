import { createLocks, currentLease, evict, type Lease, type Locks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../support/gate.ts';

let locks: Locks;

beforeEach(() => {
  locks = createLocks(memoryStore());
});

afterEach(() => locks.close());

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the lease around the running code', () => {
  it('is the innermost one', async () => {
    await locks.mutex('outer').run(async (outer) => {
      expect(currentLease()).toBe(outer);
      await locks.mutex('inner').tryRun(async (inner) => {
        await turn();
        expect(currentLease()).toBe(inner);
      });
      expect(currentLease()).toBe(outer);
    });
    expect(currentLease()).toBe(undefined);
  });

  it('is one that is not released yet', async () => {
    await locks.mutex('outer').run(async (outer) => {
      await locks.mutex('inner').run(async (inner) => {
        await inner.release();
        expect(currentLease()).toBe(outer);
      });
    });
  });

  it('is there when it is lost', async () => {
    let aborted: boolean | undefined;
    const work = locks.mutex('a').run(async ({ token, ended }) => {
      await evict(locks, 'a', { token, reason: 'test', now: true });
      await ended;
      aborted = currentLease()?.signal.aborted;
    });
    await expect(work).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(aborted).toBe(true);
  });

  it('is not there for what is left behind', async () => {
    let later: Promise<Lease | undefined> | undefined;
    const over = gate();
    await locks.mutex('a').run(() => {
      later = over.opened.then(() => currentLease());
    });
    over.open();
    expect(await later).toBe(undefined);
  });

  it('is not there for one that was acquired', async () => {
    await using lease = await locks.mutex('a').acquire();
    expect([lease.held, currentLease()]).toEqual([true, undefined]);
  });
});
