/** What the servers of databases and their clients say, and what it means. */
import { describe, expect, test } from 'vitest';
import { judge as judgeMysql } from '../../src/clients/mysql/errors.ts';
import { judge as judgePostgres } from '../../src/clients/postgres/errors.ts';
import { isBlocked } from '../../src/clients/sql/judge.ts';

const CANARY = 'canary-5up3r-s3cr3t';
const [YES, NO] = [true, false];

/** Whether it may be asked again; whether the session is of no use any more; and what is known. */
type Answer = readonly [
  code: string | number,
  retryable: boolean,
  broken: boolean,
  outcome: 'failed' | 'unknown',
  advice: RegExp,
];

type Break = readonly [error: unknown, retryable: boolean, advice: RegExp];

interface Database {
  readonly scheme: string;
  readonly judge: typeof judgeMysql;
  readonly answer: (code: string | number) => Error;
  readonly answers: readonly Answer[];
  readonly breaks: readonly Break[];
}

const coded = (code: string, message = code): Error =>
  Object.assign(new Error(message), { code, errno: -111, syscall: 'connect' });

const POSTGRES: Database = {
  scheme: 'postgres',
  judge: judgePostgres,
  answer: (code) =>
    Object.assign(new Error('what the server said'), {
      ...{ code, severity: 'ERROR', query: CANARY, detail: CANARY, parameters: [CANARY] },
    }),
  answers: [
    ['08006', YES, YES, 'unknown', /lost the connection/],
    ['25006', YES, YES, 'failed', /standby/],
    ['26000', YES, YES, 'failed', /does not know a prepared statement/],
    ['28000', NO, NO, 'failed', /pg_hba/],
    ['28P01', NO, NO, 'failed', /password/],
    ['3D000', NO, NO, 'failed', /no such database/],
    ['3F000', NO, NO, 'failed', /holdfast migrate --store/],
    ['40001', YES, NO, 'failed', /could not serialize/],
    ['40P01', YES, NO, 'failed', /deadlock/],
    ['42501', NO, NO, 'failed', /docs\/stores\/postgres\.md/],
    ['42883', NO, NO, 'failed', /holdfast migrate --store/],
    ['42P01', NO, NO, 'failed', /holdfast migrate --store/],
    ['42P05', YES, YES, 'failed', /already has a statement/],
    ['53100', YES, NO, 'failed', /run out of a resource/],
    ['53300', YES, NO, 'failed', /max_connections/],
    ['55P03', YES, NO, 'failed', /stays idle in a transaction/],
    ['57014', YES, NO, 'failed', /cancel/],
    ['57P01', YES, YES, 'unknown', /ended the session/],
    ['57P03', YES, YES, 'unknown', /starting or stopping/],
    ['57P04', NO, YES, 'unknown', /dropped this database/],
    ['57P05', YES, YES, 'unknown', /ended the session/],
    ['58030', YES, NO, 'failed', /files/],
    ['XX000', NO, NO, 'failed', /refused/],
    ['22P02', NO, NO, 'failed', /refused/],
  ],
  breaks: [
    [
      new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')], ''),
      YES,
      /nothing listens/,
    ],
    [new DOMException('The operation was aborted due to timeout', 'TimeoutError'), YES, /network/],
    [coded('CONNECTION_CLOSED', 'write CONNECTION_CLOSED host:5432'), YES, /broke the connection/],
    [new Error('The server does not support SSL connections'), NO, /TLS/],
    [new Error('SASL: client password must be a string'), NO, /password/],
  ],
};

const MYSQL: Database = {
  scheme: 'mysql',
  judge: judgeMysql,
  answer: (errno) =>
    Object.assign(new Error(`what the client made of it: ${CANARY}`), {
      ...{ errno, sqlState: 'HY000', sqlMessage: `what the server said: ${errno}` },
      ...{ sql: CANARY, parameters: [CANARY] },
    }),
  answers: [
    [1020, YES, NO, 'failed', /changed meanwhile/],
    [1021, YES, NO, 'failed', /run out of space/],
    [1040, YES, NO, 'failed', /max_connections/],
    [1044, NO, NO, 'failed', /docs\/stores\/mysql\.md/],
    [1045, NO, NO, 'failed', /password/],
    [1046, NO, NO, 'failed', /no database/],
    [1049, NO, NO, 'failed', /no such database/],
    [1053, YES, YES, 'unknown', /ended the session/],
    [1130, NO, NO, 'failed', /host/],
    [1142, NO, NO, 'failed', /docs\/stores\/mysql\.md/],
    [1146, NO, NO, 'failed', /holdfast migrate --store/],
    [1180, YES, NO, 'unknown', /could not commit/],
    [1205, YES, NO, 'failed', /stays idle in a transaction/],
    [1213, YES, NO, 'failed', /deadlock/],
    [1290, YES, YES, 'failed', /accepts no writes/],
    [1317, YES, YES, 'unknown', /stopped the call/],
    [1792, YES, YES, 'failed', /accepts no writes/],
    [1836, YES, YES, 'failed', /accepts no writes/],
    [1927, YES, YES, 'unknown', /ended the session/],
    [1969, YES, YES, 'unknown', /time limit/],
    [3024, YES, YES, 'unknown', /time limit/],
    [3159, NO, NO, 'failed', /wants TLS/],
    [4031, YES, YES, 'unknown', /ended the session/],
    [1064, NO, NO, 'failed', /refused/],
  ],
  breaks: [
    [coded('PROTOCOL_CONNECTION_LOST', 'Connection lost'), YES, /broke the connection/],
    [Object.assign(new Error('closed'), { errno: 45_009, sqlState: '08S01' }), YES, /broke/],
  ],
};

/** What clients of both say. */
const BREAKS: readonly Break[] = [
  [coded('ECONNREFUSED'), YES, /nothing listens/],
  [coded('ENOENT'), YES, /socket file/],
  [coded('ENOTFOUND'), YES, /host name/],
  [coded('ETIMEDOUT'), YES, /firewalls/],
  [coded('ECONNRESET'), YES, /broke the connection/],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), NO, /TLS/],
  ['nonsense', YES, /broke the connection/],
];

describe.each([
  ['PostgreSQL', POSTGRES],
  ['MySQL', MYSQL],
] as const)('%s', (_, { scheme, judge, answer, answers, breaks }) => {
  test.each(answers)('what the server answers: %s', (code, retryable, broken, outcome, advice) => {
    const found = judge(answer(code), 'call');
    const message = expect.stringMatching(advice);
    expect(found.error).toMatchObject({ code: 'STORE', retryable, outcome, message });
    expect(found.error.message).toContain(String(code));
    expect(found.broken).toBe(broken);
    expect(isBlocked(found.error)).toBe(['55P03', 1205].includes(code));
    // Before anything was asked, nothing can have happened.
    const opening = judge(answer(code), 'open').error;
    expect(opening).toMatchObject({ retryable, outcome: 'failed', message });
    expect(JSON.stringify([found.error, found.error.cause])).not.toContain(CANARY);
  });

  describe('what clients say of connections', () => {
    test.each([...BREAKS, ...breaks])('%s', (error, retryable, advice) => {
      const opening = judge(error, 'open').error;
      const message = expect.stringMatching(advice);
      expect(opening).toMatchObject({ code: 'STORE', retryable, outcome: 'failed', message });
      const { error: calling, broken } = judge(error, 'call');
      expect(calling).toMatchObject({ retryable: true, outcome: 'unknown', message });
      expect(broken).toBe(true);
    });

    test('a URL in a message loses its password', () => {
      const { error } = judge(new Error(`${scheme}://me:${CANARY}@host/x is wrong`), 'open');
      expect(`${error.message}${String((error.cause as Error).stack)}`).not.toContain(CANARY);
    });
  });
});
