/** What the server says, and what it means. */
import { describe, expect, test } from 'vitest';
import { judge } from '../../../src/clients/postgres/errors.ts';

const CANARY = 'canary-5up3r-s3cr3t';

function answer(code: string): Error {
  return Object.assign(new Error('what the server said'), {
    ...{ code, severity: 'ERROR', query: CANARY, detail: CANARY, parameters: [CANARY] },
  });
}

const [YES, NO] = [true, false];

describe('what the server answers', () => {
  test.each([
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
  ] as const)('%s', (code, retryable, broken, outcome, advice) => {
    const found = judge(answer(code), 'call');
    const message = expect.stringMatching(advice);
    expect(found.error).toMatchObject({ code: 'STORE', retryable, outcome, message });
    expect(found.error.message).toContain(code);
    expect(found.broken).toBe(broken);
    // Before anything was asked, nothing can have happened.
    expect(judge(answer(code), 'open').error.outcome).toBe('failed');
    expect(JSON.stringify([found.error, found.error.cause])).not.toContain(CANARY);
  });
});

describe('what clients say of connections', () => {
  const coded = (code: string, message = code): Error =>
    Object.assign(new Error(message), { code, syscall: 'connect' });

  test.each([
    [coded('ECONNREFUSED'), YES, /nothing listens/],
    [coded('ENOENT'), YES, /socket file/],
    [coded('ENOTFOUND'), YES, /host name/],
    [
      new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')], ''),
      YES,
      /nothing listens/,
    ],
    [coded('ETIMEDOUT'), YES, /firewalls/],
    [new DOMException('The operation was aborted due to timeout', 'TimeoutError'), YES, /network/],
    [coded('ECONNRESET'), YES, /broke the connection/],
    [coded('CONNECTION_CLOSED', 'write CONNECTION_CLOSED host:5432'), YES, /broke the connection/],
    [new Error('The server does not support SSL connections'), NO, /TLS/],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), NO, /TLS/],
    [new Error('SASL: client password must be a string'), NO, /password/],
    ['nonsense', YES, /broke the connection/],
  ])('%s', (error, retryable, advice) => {
    const opening = judge(error, 'open').error;
    const message = expect.stringMatching(advice);
    expect(opening).toMatchObject({ code: 'STORE', retryable, outcome: 'failed', message });
    const { error: calling, broken } = judge(error, 'call');
    expect(calling).toMatchObject({ retryable: true, outcome: 'unknown', message });
    expect(broken).toBe(true);
  });

  test('a URL in a message loses its password', () => {
    const { error } = judge(new Error(`postgres://me:${CANARY}@host/x is wrong`), 'open');
    expect(`${error.message}${String((error.cause as Error).stack)}`).not.toContain(CANARY);
  });
});
