import { expect, it } from 'vitest';
import { retryMs } from '../../src/dashboard/ui/retry.ts';

it('a page asks less and less often for a stream that is refused', () => {
  expect([1, 2, 3, 4].map(retryMs)).toEqual([2_000, 4_000, 8_000, 16_000]);
  expect(retryMs(100)).toBe(60_000);
});
