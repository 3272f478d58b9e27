import type { StoreError } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { judge, refusalCode, refusalIn, refused } from '../../../src/clients/redis/errors.ts';

const CANARY = 'canary-5up3r-s3cr3t';

describe('what servers refuse', () => {
  test.each([
    ['NOSCRIPT No matching script. Please use EVAL.', true, /loads it again/],
    ['NOAUTH Authentication required.', false, /requires a password/],
    ['WRONGPASS invalid username-password pair or user is disabled.', false, /user name and/],
    ["NOPERM User app has no permissions to run the 'incr' command", false, /not permit/],
    ["NOPERM User app has no permissions to run the 'evalsha' command", false, /runs no scripts/],
    ["NOPERM User app has no permissions to run the 'script|load' command", false, /no scripts/],
    ["READONLY You can't write against a read only replica.", true, /replica/],
    ['LOADING Redis is loading the dataset in memory', true, /loading/],
    ['BUSY Redis is busy running a script.', true, /SCRIPT KILL/],
    ['MASTERDOWN Link with MASTER is down', true, /lost its primary/],
    ['CLUSTERDOWN The cluster is down', true, /does not serve/],
    ['TRYAGAIN Multiple keys request during rehashing of slot', true, /moving/],
    ['MOVED 3999 127.0.0.1:6381', true, /another server/],
    ['ASK 3999 127.0.0.1:6381', true, /another server/],
    ["CROSSSLOT Keys in request don't hash to the same slot", false, /several slots/],
    ["OOM command not allowed when used memory > 'maxmemory'.", true, /memory/],
    ['NOREPLICAS Not enough good replicas to write.', true, /min-replicas-to-write/],
    ['MISCONF Redis is configured to save RDB snapshots', true, /cannot save/],
    [
      'WRONGTYPE Operation against a key holding the wrong kind of value',
      false,
      /under the key\..*namespace/,
    ],
    ['ERR max number of clients reached', true, /maxclients/],
    ["ERR unknown command 'EVALSHA'", false, /runs no scripts/],
    ['ERR unknown command `evalsha`', false, /runs no scripts/],
    ["ERR unknown command 'LMPOP'", false, /older than Redis 7\.0/],
    ['SENTINEL redis_mode is sentinel', false, /is a Sentinel/],
    ['ERR This instance has cluster support disabled', false, /plain client/],
    ['ERR something else', false, /refused/],
  ])('%s', (said, retryable, advice) => {
    const error = refused(said);
    expect(error).toMatchObject({ code: 'STORE', retryable, outcome: 'failed' });
    expect(error.message).toMatch(advice);
    expect(error.message).toContain(said.slice(0, 40));
    expect(refusalCode(error)).toBe(said.split(' ')[0]);
    expect(refusalIn(new Error(said))).toBe(said);
  });

  test('a script that failed half-way may have done something', () => {
    const said = 'OOM command not allowed. script: 5ca1ab1e, on @user_script:7.';
    expect(refused(said)).toMatchObject({ outcome: 'unknown', retryable: true });
  });

  test('arguments that the server repeats are left out', () => {
    const said = `ERR unknown command 'X', with args beginning with: '${CANARY}' 'b' `;
    const error = refused(said);
    expect(`${error.message} ${error.cause} ${error.stack}`).not.toContain(CANARY);
  });
});

describe('what clients say of the connection', () => {
  const coded = (message: string, code?: string): Error =>
    Object.assign(new Error(message), { code });

  const connectionError = (cause: unknown, written: boolean): StoreError =>
    judge(cause, written ? 'call' : 'open').error;

  test.each([
    [coded('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'), true, /nothing listens/],
    [coded('getaddrinfo ENOTFOUND nowhere', 'ENOTFOUND'), true, /host name/],
    [coded('connect ENOENT /run/x', 'ENOENT'), true, /socket file/],
    [coded('connect ETIMEDOUT', 'ETIMEDOUT'), true, /firewalls/],
    [new Error('Connection timeout'), true, /firewalls/],
    [coded('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'), false, /TLS/],
    [
      coded('...wrong version number...', 'ERR_SSL_WRONG_VERSION_NUMBER'),
      false,
      /does not speak TLS at this port/,
    ],
    [new Error('Unknown RESP type 21 "\u0015"'), false, /speaks TLS at this port/],
    [
      new Error('Protocol error, got "\\u0015" as reply type byte'),
      false,
      /speaks TLS at this port/,
    ],
    [coded('read ECONNRESET', 'ECONNRESET'), true, /broke/],
    [new Error('Connection is closed.'), true, /broke/],
    [new Error('Socket closed unexpectedly'), true, /broke/],
    [new Error('Protocol error, got "H" as reply type byte'), false, /protocol/],
    [new Error('Unknown RESP type 72 "H"'), false, /protocol/],
    [new Error('All sentinels are unreachable. Retrying'), true, /Sentinel/],
    [new Error('None of the sentinels are available'), true, /Sentinel/],
    [new Error('None of startup nodes is available'), true, /none of its nodes/],
    [new Error('All the root nodes are unavailable'), true, /none of its nodes/],
    ['a text', true, /broke/],
    [undefined, true, /no reason given/],
  ])('%s', (cause, retryable, advice) => {
    const before = connectionError(cause, false);
    expect(before).toMatchObject({ code: 'STORE', retryable, outcome: 'failed' });
    expect(before.message).toMatch(advice);
    // It has worked before, so it may again.
    expect(connectionError(cause, true)).toMatchObject({ retryable: true, outcome: 'unknown' });
  });

  test('a command that was never written has failed', () => {
    const message = "Stream isn't writeable and enableOfflineQueue options is false";
    expect(connectionError(new Error(message), true).outcome).toBe('failed');
    expect(connectionError(new Error('The client is closed'), true).outcome).toBe('failed');
  });

  test('all addresses of a name are told', () => {
    const tried = [coded('connect ECONNREFUSED ::1:1'), coded('connect ECONNREFUSED 127.0.0.1:1')];
    const error = connectionError(new AggregateError(tried, ''), false);
    expect(error.message).toMatch(/::1:1, .*127\.0\.0\.1:1/);
  });

  test('a refusal while connecting is one', () => {
    expect(connectionError(new Error('WRONGPASS invalid'), false)).toMatchObject({
      ...{ retryable: false, outcome: 'failed' },
    });
  });

  test('neither URLs nor commands bring secrets along', () => {
    const cause = Object.assign(new Error(`bad redis://u:${CANARY}@x@host\n${'x'.repeat(999)}`), {
      command: { name: 'evalsha', args: [CANARY] },
    });
    const error = connectionError(cause, true);
    const told = `${error.message} ${error.stack} ${JSON.stringify(error.cause)} ${error.cause}`;
    expect(told).not.toContain(CANARY);
    expect(error.cause).not.toHaveProperty('command');
    expect(error.message.length).toBeLessThan(500);
  });
});
