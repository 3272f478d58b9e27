import { getEventListeners } from 'node:events';
import { allOf } from 'holdfast';
import { createElection } from 'holdfast/election';
import { describe, expect, vi } from 'vitest';
import { firstOf, onAbort } from '../../src/base/aborts.ts';
import { collect } from '../support/garbage.ts';
import { it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('a signal that many wait with', () => {
  it('ends all of them, has one listener, and none after', async () => {
    const warn = vi.spyOn(process, 'emitWarning');
    const { clock, store, locks } = setUp();
    store.onClaim = store.onRenew = () => waiting();
    const aborter = new AbortController();
    const { signal } = aborter;
    const candidates = Array.from({ length: 20 }, (_, i) =>
      createElection(locks, `e${i}`).campaign({ signal }),
    );
    const waits = Array.from({ length: 20 }, (_, i) =>
      watchOutcome(locks.mutex(`m${i}`).acquire({ signal })),
    );
    await clock.rest();
    expect(listeners(signal)).toBe(1);
    aborter.abort('enough');
    await clock.rest();
    expect(waits.map(({ error }) => error)).toEqual(waits.map(() => 'enough'));
    expect(candidates.map(({ state }) => state)).toEqual(candidates.map(() => 'resigned'));
    expect(listeners(signal)).toBe(0);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('is left by those who have what they waited for', async ({ bed }) => {
    const { signal } = new AbortController();
    await bed.locks.mutex('a').run({ signal }, () => {});
    expect(listeners(signal)).toBe(0);
  });
});

describe('listening to a signal', () => {
  it('tells each once, in order, but whoever the one before has stopped', () => {
    const aborter = new AbortController();
    const told: string[] = [];
    onAbort(aborter.signal, () => {
      told.push('first');
      forgetSecond();
    });
    const forgetSecond = onAbort(aborter.signal, () => told.push('second'));
    onAbort(aborter.signal, () => told.push('third'));
    aborter.abort();
    onAbort(aborter.signal, () => told.push('late'));
    expect(told).toEqual(['first', 'third']);
    expect(listeners(aborter.signal)).toBe(0);
  });

  it('goes on for the others when one stops', () => {
    const aborter = new AbortController();
    const told: string[] = [];
    const forget = onAbort(aborter.signal, () => told.push('first'));
    onAbort(aborter.signal, () => told.push('second'));
    forget();
    forget();
    aborter.abort();
    expect(told).toEqual(['second']);
  });
});

describe('the first of several signals', () => {
  it('is forgotten with the work that listened to it', async () => {
    const { locks } = setUp();
    const signals: WeakRef<AbortSignal>[] = [];
    const listen = ({ signal }: { readonly signal: AbortSignal }): void => {
      signal.addEventListener('abort', () => {});
      signals.push(new WeakRef(signal));
    };
    const both = allOf([locks.mutex('a'), locks.mutex('b')]);
    for (let i = 0; i < 5; i++) await both.run(listen);
    let kept = 0;
    for await (const term of createElection(locks, 'e').campaign()) {
      listen(term);
      if (signals.length < 10) continue;
      // In a job of its own, for what a job has seen lives as long as it does.
      await new Promise((resolve) => setImmediate(resolve));
      collect();
      kept = signals.filter((signal) => signal.deref()).length;
      break;
    }
    // The term that is on, and the last of each kind may still be on a stack.
    expect(kept).toBeLessThanOrEqual(3);
  });

  it('is for its reason, and nobody listens to the others after it', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const { aborter } = firstOf([one.signal, two.signal]);
    two.abort('two');
    one.abort('one');
    expect(aborter.signal.reason).toBe('two');
    expect([one, two].map(({ signal }) => listeners(signal))).toEqual([0, 0]);
  });

  it('is one that has aborted already', () => {
    const { signal } = new AbortController();
    const { aborter } = firstOf([signal, AbortSignal.abort('before')]);
    expect([aborter.signal.reason, listeners(signal)]).toEqual(['before', 0]);
  });

  it('is of no interest any more', () => {
    const one = new AbortController();
    const { aborter, forget } = firstOf([one.signal]);
    forget();
    expect(listeners(one.signal)).toBe(0);
    one.abort();
    expect(aborter.signal.aborted).toBe(false);
  });
});
