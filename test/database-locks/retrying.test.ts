/** Transactions that run again, and those that must not: with every client, on every server. */
import { changeState, type LockWait, retrying, rowLock, type SqlTransaction } from 'holdfast/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { PRODUCTS, Signal, useServer } from './bed.ts';
import { type Client, numberLeft, on } from './clients.ts';

const table = 'stock';
const lock = (tx: SqlTransaction, id: string, wait: LockWait = 'block') =>
  rowLock(tx, { table, key: { id }, wait });

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);

  describe.each(Object.entries(product.clients))('%s', (name, open) => {
    let client: Client;
    let admin: Client;
    const postgres = () => client.dialect === 'postgres';
    beforeAll(async () => {
      client = open(server.url);
      admin = product.plain(server.url);
      for (const id of ['a', 'b']) await client.transaction((tx) => lock(tx, id));
    });
    beforeEach(() => on(admin.db).count('UPDATE stock SET n = 10'));
    afterAll(async () => {
      await client.close();
      await admin.close();
    });

    test('one that a deadlock has ended', async () => {
      const has = [new Signal(), new Signal()] as const;
      const ids = ['a', 'b'] as const;
      const attempts = [0, 0];
      const work = (me: 0 | 1) =>
        retrying((attempt) => {
          attempts[me] = attempt;
          return client.transaction(async (tx) => {
            await lock(tx, ids[me]);
            has[me].give();
            // A second attempt finds both given.
            await has[me === 0 ? 1 : 0].given;
            await lock(tx, ids[me === 0 ? 1 : 0]);
          });
        });
      await Promise.all([work(0), work(1)]);
      expect(Math.max(...attempts)).toBeGreaterThan(1);
    });

    test('one that is not serializable, at whatever statement or at COMMIT', async () => {
      const read = [new Signal(), new Signal()] as const;
      const attempts = [0, 0];
      const sell = (me: 0 | 1) =>
        retrying((attempt) => {
          attempts[me] = attempt;
          return client.transaction(async (tx) => {
            const [row] = await on(tx).rows('SELECT n FROM stock WHERE id = ?', ['a']);
            read[me].give();
            await read[me === 0 ? 1 : 0].given;
            await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [Number(row?.n) - 1, 'a']);
          }, 'serializable');
        });
      await Promise.all([sell(0), sell(1)]);
      expect(await numberLeft(admin.db, 'a')).toBe(8);
      expect(Math.max(...attempts)).toBeGreaterThan(1);
    });

    test('none whose COMMIT has no answer', async ({ skip }) => {
      skip(
        /postgres$/.test(name),
        'not promised: postgres itself throws where nobody can catch it',
      );
      let attempts = 0;
      const work = retrying(() => {
        attempts += 1;
        return client.transaction(async (tx) => {
          const own = postgres() ? 'pg_backend_pid()' : 'CONNECTION_ID()';
          const [me] = await on(tx).rows(`SELECT ${own} AS "id"`);
          await changeState(tx, { table, key: { id: 'a' }, from: { n: 10 }, to: { n: 9 } });
          await end(Number(me?.id));
        });
      });
      await expect(work).rejects.toMatchObject({
        ...{ code: 'TRANSACTION', reason: 'connection', outcome: 'unknown', retryable: false },
        cause: expect.anything(),
      });
      expect(attempts).toBe(1);
    });

    /** Ends a session, and waits until the server has forgotten it. */
    async function end(id: number): Promise<void> {
      if (postgres()) await on(admin.db).rows(`SELECT pg_terminate_backend(${id})`);
      else await on(admin.db).count(`KILL CONNECTION ${id}`);
      const left = postgres()
        ? `SELECT 1 FROM pg_stat_activity WHERE pid = ${id}`
        : `SELECT 1 FROM information_schema.processlist WHERE id = ${id}`;
      await until('is gone', async () => (await on(admin.db).rows(left)).length === 0);
    }

    test('none without end', async () => {
      const [has, done] = [new Signal(), new Signal()];
      const holder = admin.transaction(async (tx) => {
        await lock(tx, 'a');
        has.give();
        await done.given;
      });
      await has.given;
      const attempts: number[] = [];
      const nowait = (attempt: number) => {
        attempts.push(attempt);
        return client.transaction((tx) => lock(tx, 'a', 'nowait'));
      };
      await expect(retrying(nowait, { attempts: 3 })).rejects.toMatchObject({
        ...{ code: 'TRANSACTION', reason: 'lock-timeout', outcome: 'failed', retryable: true },
        message: expect.stringMatching(
          /^Gave up after 3 attempts: Another transaction held the lock/,
        ),
        cause: expect.objectContaining({ reason: 'lock-timeout' }),
      });
      expect(attempts).toEqual([1, 2, 3]);
      done.give();
      await holder;
    });

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
      await expect(retrying(work, options)).rejects.toMatchObject({ reason: 'deadlock' });
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
