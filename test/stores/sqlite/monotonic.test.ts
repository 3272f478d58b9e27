import { expect, test } from 'vitest';
import { monotonicClock } from '../../../src/clients/sqlite/monotonic.ts';

const refused = expect.objectContaining({ code: 'STORE', retryable: false, outcome: 'failed' });

test("Node's clock is the machine's", () => {
  const before = process.hrtime.bigint() / 1000n;
  const now = BigInt(monotonicClock()());
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(process.hrtime.bigint() / 1000n);
});

test.each(['bun', 'deno'])('%s asks the kernel', (runtime) => {
  const now = monotonicClock({ [runtime]: '1.0.0' }, () => ({
    symbols: {
      clock_gettime(clock, timespec) {
        timespec.set([12n, 345_678_901n]);
        return clock === 1 ? 0 : -1;
      },
    },
  }));
  expect(now()).toBe(12_345_678);
});

test.each([
  ['is not there', () => undefined],
  ['may not be loaded', () => raise(new Error('NotCapable'))],
  ['fails', () => ({ symbols: { clock_gettime: () => -1 } })],
])('a C library that %s is a refusal', (_, load) => {
  expect(monotonicClock({ deno: '2.0.0' }, load)).toThrow(refused);
});

function raise(error: Error): never {
  throw error;
}
