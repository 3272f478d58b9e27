/**
 * When transactions stop running again, with every client, on every server; lines.test.ts has those
 * that run again, and COMMIT without an answer.
 */
import { retrying, rowLock } from 'holdfast/sql';
import { beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { on } from './clients.ts';

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);

  describe.each(Object.entries(product.clients))('%s', (_, open) => {
    const client = useClient(open, server);
    beforeAll(() => client.transaction((tx) => rowLock(tx, { table: 'stock', key: { id: 'a' } })));

    test('none for another reason', async () => {
      let attempts = 0;
      const work = retrying(() => {
        attempts += 1;
        return client.transaction((tx) => on(tx).count('INSERT INTO stock (id) VALUES (?)', ['a']));
      });
      await expect(work).rejects.toMatchObject({ reason: 'refused', retryable: false });
      expect(attempts).toBe(1);
    });
  });
});

describe('without a database', () => {
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });

  test('its value, and the number of the attempt', async () => {
    const seen: number[] = [];
    const work = (attempt: number) => {
      seen.push(attempt);
      if (attempt < 3) throw deadlock;
      return 'done';
    };
    expect(await retrying(work)).toBe('done');
    expect(seen).toEqual([1, 2, 3]);
  });

  test('five attempts, unless another number is wanted', async () => {
    for (const [options, count] of [
      [undefined, 5],
      [{ attempts: 1 }, 1],
    ] as const) {
      let attempts = 0;
      const work = () => {
        attempts += 1;
        throw deadlock;
      };
      await expect(retrying(work, options)).rejects.toMatchObject({
        ...{ code: 'TRANSACTION', reason: 'deadlock', outcome: 'failed', retryable: true },
        ...{ message: expect.stringMatching(`^Gave up after ${count} attempts: deadlock det`) },
        cause: deadlock,
      });
      expect(attempts).toBe(count);
    }
  });

  test('a signal ends it, before an attempt and in a pause', async () => {
    const aborted = retrying(() => 'never', { signal: AbortSignal.abort('over') });
    await expect(aborted).rejects.toBe('over');
    const stop = new AbortController();
    const work = () => {
      queueMicrotask(() => stop.abort('stopped'));
      throw deadlock;
    };
    await expect(retrying(work, { signal: stop.signal })).rejects.toBe('stopped');
  });

  test('what a client says of its connection, and what it does not', async () => {
    const failure = (more: object) => Object.assign(new Error('no'), more);
    const unknown = { reason: 'connection', outcome: 'unknown', retryable: false };
    for (const [error, told] of [
      // mariadb calls fatal what was cancelled.
      [failure({ errno: 1317, fatal: true, sqlState: '70100' }), { reason: 'cancelled' }],
      [failure({ code: 'ECONNRESET' }), unknown],
      [failure({ code: 'P1017' }), unknown],
      [failure({ cause: failure({ kind: 'ConnectionClosed' }) }), unknown],
      [failure({ cause: failure({ kind: 'mysql', code: 45_009 }) }), unknown],
    ] as const) {
      const thrown = () => Promise.reject(error);
      await expect(retrying(thrown, { attempts: 1 })).rejects.toMatchObject(told);
    }
    const never = failure({ code: 'ECONNREFUSED' });
    await expect(retrying(() => Promise.reject(never))).rejects.toBe(never);
  });

  test('wrong arguments are refused', async () => {
    for (const attempts of [0, -1, 1.5, Number.NaN, '3' as unknown as number]) {
      await expect(retrying(() => {}, { attempts })).rejects.toMatchObject({ code: 'USAGE' });
    }
    const none = undefined as unknown as () => void;
    await expect(retrying(none)).rejects.toMatchObject({ code: 'USAGE' });
  });
});
