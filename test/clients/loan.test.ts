/** How long a pool may take to lend the connection from which a store learns how to connect. */
import { afterEach, expect, test, vi } from 'vitest';
import { learntOnLoan } from '../../src/clients/sql/loan.ts';

afterEach(() => void vi.useRealTimers());

test('one that makes its first has longer than one that has lent out all', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const learn = () => new Promise((resolve) => setTimeout(resolve, 3000, 'learnt'));
  const busy = expect(learntOnLoan('a package', learn, () => 1)(signal)).rejects.toThrow(
    'The pool of a package has lent out all its connections',
  );
  const first = learntOnLoan('a package', learn, () => 0)(signal);
  await vi.advanceTimersByTimeAsync(600);
  await busy;
  await vi.advanceTimersByTimeAsync(2500);
  expect(await first).toBe('learnt');
});

test('one that makes none is told of while an attempt to connect lasts', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const never = () => new Promise(() => {});
  const told = expect(learntOnLoan('a package', never, () => 0)(signal)).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: true, outcome: 'failed' },
    message: expect.stringContaining('made no connection yet'),
  });
  await vi.advanceTimersByTimeAsync(4900);
  await told;
});
