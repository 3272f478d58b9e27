import { isLockError, StoreError } from 'holdfast';
import { describe, expect, vi } from 'vitest';
import { it } from '../support/scripted-store.ts';

/** Another copy of the library, as when a program loads its ESM and its CommonJS build. */
async function otherCopy(): Promise<typeof import('holdfast')> {
  vi.resetModules();
  return import('holdfast');
}

describe('two copies of the library on one store', () => {
  it('know of each other what the running code holds', async ({ clock, store, locks }) => {
    const copy = await otherCopy();
    const others = copy.createLocks(store, { clock });
    expect(others).not.toBeInstanceOf(locks.constructor);

    const ran = locks.mutex('a').run(async (outer) => {
      const refused = await others.mutex('a').run(String).catch(String);
      const entered = await others.mutex('a', { reentrant: true }).run((lease) => lease === outer);
      const permits = locks
        .semaphore('s', { limit: 2 })
        .run({ permits: 2 }, () => others.semaphore('s', { limit: 2 }).run(String).catch(String));
      return [refused, entered, await permits, await others.mutex('b').run(() => 'stranger')];
    });
    await clock.advance(1_000);
    const deadlock = expect.stringMatching(/^DeadlockError/);
    expect(await ran).toEqual([deadlock, true, deadlock, 'stranger']);
  });

  it('close it when the last of them closes', async ({ clock, store, locks }) => {
    const copy = await otherCopy();
    const others = copy.createLocks(store, { clock });
    const first = locks.close();
    await clock.advance(20_000);
    await first;
    expect(store.closed).toBe(0);
    const last = others.close();
    await clock.advance(20_000);
    await last;
    expect(store.closed).toBe(1);
  });

  it('know the errors of each other', async () => {
    const copy = await otherCopy();
    const terms = { retryable: false, outcome: 'failed' } as const;
    const [ours, theirs] = [new StoreError('down', terms), new copy.StoreError('down', terms)];
    expect(theirs).not.toBeInstanceOf(StoreError);
    expect([copy.isLockError(ours, 'STORE'), isLockError(theirs, 'STORE')]).toEqual([true, true]);
  });
});
