/** What the server says, and what it means. */
import { describe, expect, test } from 'vitest';
import { judge } from '../../../src/clients/mysql/errors.ts';
import { isBlocked } from '../../../src/clients/sql/judge.ts';

const CANARY = 'canary-5up3r-s3cr3t';

function answer(errno: number): Error {
  const said = { errno, sqlState: 'HY000', sqlMessage: `what the server said: ${errno}` };
  return Object.assign(new Error(`what the client made of it: ${CANARY}`), {
    ...said,
    ...{ sql: CANARY, parameters: [CANARY] },
  });
}

const [YES, NO] = [true, false];

describe('what the server answers', () => {
  test.each([
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
    [4031, YES, YES, 'unknown', /ended the session/],
    [1064, NO, NO, 'failed', /refused/],
  ] as const)('%s', (errno, retryable, broken, outcome, advice) => {
    const found = judge(answer(errno), 'call');
    const message = expect.stringMatching(advice);
    expect(found.error).toMatchObject({ code: 'STORE', retryable, outcome, message });
    expect(found.error.message).toContain(String(errno));
    expect(found.broken).toBe(broken);
    expect(isBlocked(found.error)).toBe(errno === 1205);
    // Before anything was asked, nothing can have happened.
    expect(judge(answer(errno), 'open').error.outcome).toBe('failed');
    expect(JSON.stringify([found.error, found.error.cause])).not.toContain(CANARY);
  });
});

test('a connection that finds no tables when it opens names the command', () => {
  const { error } = judge(answer(1146), 'open');
  const message = expect.stringMatching(/holdfast migrate --store/);
  expect(error).toMatchObject({ retryable: false, outcome: 'failed', message });
});

describe('what clients say of connections', () => {
  const coded = (code: string, message = code): Error =>
    Object.assign(new Error(message), { code, errno: -111, syscall: 'connect' });

  test.each([
    [coded('ECONNREFUSED'), YES, /nothing listens/],
    [coded('ENOENT'), YES, /socket file/],
    [coded('ENOTFOUND'), YES, /host name/],
    [coded('ETIMEDOUT'), YES, /firewalls/],
    [coded('ECONNRESET'), YES, /broke the connection/],
    [coded('PROTOCOL_CONNECTION_LOST', 'Connection lost'), YES, /broke the connection/],
    [Object.assign(new Error('closed'), { errno: 45_009, sqlState: '08S01' }), YES, /broke/],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), NO, /TLS/],
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
    const { error } = judge(new Error(`mysql://me:${CANARY}@host/x is wrong`), 'open');
    expect(`${error.message}${String((error.cause as Error).stack)}`).not.toContain(CANARY);
  });
});
