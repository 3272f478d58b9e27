/** Work that several callers want at a time. */
import { expect, test } from 'vitest';
import { keptOnce, singleFlight } from '../../src/base/single-flight.ts';

test('callers share what is under way, and the next one begins anew', async () => {
  const asked: number[] = [];
  const ask = singleFlight(async (n: number) => {
    asked.push(n);
    if (n === 3) throw new Error('three');
    return n;
  });
  expect(await Promise.all([ask(1), ask(2)])).toEqual([1, 1]);
  const failed = await Promise.allSettled([ask(3), ask(4)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask(5)).toBe(5);
  expect(asked).toEqual([1, 3, 5]);
});

test('a success is kept, a failure is not', async () => {
  let tries = 0;
  const ask = keptOnce(async () => {
    if (++tries === 1) throw new Error('the first');
    return tries;
  });
  await expect(Promise.all([ask(), ask()])).rejects.toThrow('the first');
  expect(await Promise.all([ask(), ask()])).toEqual([2, 2]);
  expect(await ask()).toBe(2);
  expect(tries).toBe(2);
});
