/** Work that several callers want at a time. */
import { expect, test } from 'vitest';
import { keptOnce, singleFlight, together } from '../../src/base/single-flight.ts';

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

test('what is asked in one turn is asked at once, in groups of a limited size', async () => {
  const calls: string[] = [];
  const ask = together(
    async (names: readonly string[]) => {
      calls.push(names.join());
      if (names.includes('b1')) throw new Error('b');
      return names.map((name) => (name === 'a2' ? Promise.reject(new Error(name)) : name + name));
    },
    2,
    ([group = '']) => group,
  );
  const asked = ['a1', 'b1', 'a2', 'a3', 'b2', 'b3'];
  const found = await Promise.allSettled(asked.map(ask));
  expect(calls).toEqual(['a1,a2', 'b1,b2', 'a3', 'b3']);
  const answers = found.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)));
  expect(answers).toEqual(['a1a1', 'Error: b', 'Error: a2', 'a3a3', 'Error: b', 'b3b3']);
  expect(await ask('a1')).toBe('a1a1');
});
