/** How it is started and stopped, and what it refuses. */
import * as api from '@opentelemetry/api';
import { createLocks, evict } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type InstrumentOptions, instrument } from 'holdfast/opentelemetry';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tell } from './sdk.ts';

afterEach(() => vi.restoreAllMocks());

const namesOf = (told: ReturnType<typeof tell>): string[] => told.spans().map(({ name }) => name);

describe('which locks it is about', () => {
  it('is those that are named', async () => {
    const [one, other] = [tell(), tell()];
    await one.locks.mutex('a').run(() => {});
    expect(namesOf(one)).toEqual(['acquire mutex', 'hold mutex']);
    expect(namesOf(other)).toEqual([]);
  });

  it('is all of the process by default', async () => {
    const seen: string[] = [];
    const startSpan = (name: string): api.Span => {
      seen.push(name);
      return api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT);
    };
    const tracerProvider = { getTracer: () => ({ startSpan }) };
    const stop = instrument(api, { tracerProvider, metrics: false });
    onTestFinished(stop);
    const run = async (): Promise<void> => {
      const locks = createLocks(memoryStore());
      await locks.mutex('a').run(() => {});
      await locks.close();
    };
    await run();
    await run();
    stop();
    await run();
    const pair = ['acquire mutex', 'hold mutex'];
    expect(seen).toEqual([...pair, ...pair]);
  });
});

describe('beginning and end', () => {
  it('leaves out what began before, but for a loss', async () => {
    const { locks, stop } = tell();
    stop();
    const lock = locks.mutex('a');
    const lease = await lock.acquire();
    const waiting = lock.run(() => {});
    const told = tell({ locks });
    await lease.release();
    await waiting;
    expect(told.spans()).toEqual([]);
    expect(await told.measured('holdfast.leases')).toEqual([]);
    told.stop();
    const { token, ended } = await lock.acquire();
    const later = tell({ locks });
    await evict(locks, 'a', { token, reason: 'to see it counted', now: true });
    await ended;
    expect(await later.measured('holdfast.losses')).toMatchObject([[{}, 1]]);
    expect(later.spans()).toEqual([]);
  });

  it('ends open spans and counts nobody as waiting when it is stopped', async () => {
    const told = tell();
    const { locks, stop, measured } = told;
    const lock = locks.mutex('a');
    const lease = await lock.acquire();
    const waiting = lock.acquire();
    stop();
    expect(namesOf(told)).toEqual(['acquire mutex', 'hold mutex', 'acquire mutex']);
    expect(await measured('holdfast.waiters')).toMatchObject([[{}, 0]]);
    expect(await measured('holdfast.leases')).toMatchObject([[{}, 0]]);
    await lease.release();
    await (await waiting).release();
    stop();
    expect(told.spans().length).toBe(3);
  });

  it('does without spans or without metrics', async () => {
    const [plain, counted] = [tell({ metrics: false }), tell({ spans: false })];
    for (const { locks } of [plain, counted]) await locks.mutex('a').run(() => {});
    expect(namesOf(plain)).toEqual(['acquire mutex', 'hold mutex']);
    expect(await plain.measured('holdfast.acquisitions')).toEqual([]);
    expect(namesOf(counted)).toEqual([]);
    expect(await counted.measured('holdfast.acquisitions')).toMatchObject([[{}, 1]]);
  });

  it('costs the work nothing but a name if nameOf fails', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const told = tell({
      nameOf: () => {
        throw new Error('mine');
      },
    });
    expect(await told.locks.mutex('a').run(() => 'fine')).toBe('fine');
    expect(namesOf(told)).toEqual(['acquire mutex', 'hold mutex']);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('nameOf failed'));
  });
});

describe('what it refuses', () => {
  it.each([undefined, null, {}, { trace: {} }, { ...api, metrics: undefined }])(
    'no API: %#, and says what to install',
    (wrong) => {
      const expected = /npm i @opentelemetry\/api; import \* as api from '@opentelemetry\/api'/;
      expect(() => instrument(wrong as never)).toThrow(expected);
    },
  );

  it.each([
    [{ lock: 1 }, /has no option "lock"/],
    [{ locks: {} }, /createLocks/],
    [{ spans: 1 }, /spans must be/],
    [{ metrics: 'no' }, /metrics must be/],
    [{ resources: null }, /resources must be/],
    [{ nameOf: 'invoice' }, /nameOf must be/],
  ] as [InstrumentOptions, RegExp][])('options such as %j', (wrong, message) => {
    expect(() => instrument(api, wrong)).toThrow(message);
  });
});
