/** Errors as other realms and other libraries give them. */
import { runInNewContext } from 'node:vm';
import { isRetryable } from 'holdfast/sql';
import { describe, expect, it } from 'vitest';
import { copyOf, describe as say } from '../../src/clients/causes.ts';

const failed = (more: object): Error => Object.assign(new Error('the query failed'), more);

describe('an error of another realm', () => {
  it('says what it has to say', () => {
    const error = runInNewContext(
      `Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })`,
    );
    expect(error).not.toBeInstanceOf(Error);
    expect(say(error)).toBe('connect ECONNREFUSED');
  });

  it('is one of several that are told together', () => {
    const error = runInNewContext(
      `new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })], '')`,
    );
    expect(say(error)).toBe('refused, ECONNREFUSED');
  });
});

describe('a deadlock is retryable inside the error of', () => {
  it.each([
    ['a copy of it', failed({ cause: failed({ code: '40P01' }) })],
    ['TypeORM on PostgreSQL', failed({ driverError: failed({ code: '40P01' }) })],
    ['TypeORM on MySQL', failed({ driverError: failed({ errno: 1213 }) })],
    ['Sequelize on PostgreSQL', failed({ parent: failed({ code: '40P01' }), original: 1 })],
    ['Sequelize on MySQL', failed({ original: failed({ errno: 1213 }) })],
    [
      'Prisma on PostgreSQL',
      failed({
        code: 'P2010',
        meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: '40P01' } } },
      }),
    ],
    [
      'Prisma on MySQL',
      failed({ code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '1213' } } } }),
    ],
    ['Bun on PostgreSQL', failed({ code: 'ERR_POSTGRES_SERVER_ERROR', errno: '40P01' })],
  ])('%s', (_name, error) => {
    expect(isRetryable(error)).toBe(true);
  });

  it('nothing else, however it is nested', () => {
    const round = failed({ code: '23505' });
    Object.assign(round, { cause: round, parent: failed({ original: round }) });
    expect([isRetryable(round), isRetryable(copyOf('Error', 'deadlock'))]).toEqual([false, false]);
  });
});
