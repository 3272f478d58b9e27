import { isLockError } from 'holdfast';
import { describe, expect, it } from 'vitest';
import {
  EtcdRefusal,
  isLeaderless,
  isLeaseGone,
  isTokenOld,
  NoAnswer,
  storeError,
} from '../../../../src/clients/etcd/errors.ts';

const failed = (retryable: boolean) => ({ retryable, outcome: 'failed' as const });
const UNKNOWN = { retryable: true, outcome: 'unknown' as const };

it.each([
  [14, 'etcdserver: no leader', failed(true)],
  [2, 'raft proposal dropped', failed(true)],
  [9, 'etcdserver: not leader', failed(true)],
  [8, 'etcdserver: too many requests', failed(true)],
  [5, 'etcdserver: requested lease not found', failed(true)],
  [14, 'etcdserver: leader changed', UNKNOWN],
  [14, 'etcdserver: request timed out', UNKNOWN],
  [14, 'etcdserver: request timed out, possibly due to previous leader failure', UNKNOWN],
  [14, 'etcdserver: request timed out, possibly due to connection lost', UNKNOWN],
  [14, 'etcdserver: server stopped', UNKNOWN],
  [8, 'etcdserver: mvcc: database space exceeded', failed(true)],
  [15, 'etcdserver: corrupt cluster', failed(false)],
  [7, 'etcdserver: permission denied', failed(false)],
  [3, 'etcdserver: authentication failed, invalid user ID or password', failed(false)],
  [3, 'etcdserver: user name is empty', failed(false)],
  [16, 'etcdserver: invalid auth token', failed(true)],
  [3, 'etcdserver: revision of auth store is old', failed(true)],
  [3, 'etcdserver: request is too large', failed(false)],
  [8, 'grpc: received message larger than max (3 vs. 2)', failed(false)],
  [3, 'etcdserver: too many operations in txn request', failed(false)],
  [3, 'etcdserver: duplicate key given in txn request', failed(false)],
  [5, 'etcdserver: key not found', failed(false)],
  [11, 'etcdserver: mvcc: required revision has been compacted', failed(false)],
  [12, 'unknown service', failed(false)],
  [1, 'context canceled', UNKNOWN],
  [2, 'something new', UNKNOWN],
  [4, 'context deadline exceeded', UNKNOWN],
  [13, 'transport: broken', UNKNOWN],
  [14, 'something new', UNKNOWN],
  [77, '', UNKNOWN],
  [Number.NaN, '', UNKNOWN],
])('what etcd refuses: %d %s', (status, message, expected) => {
  const error = storeError(new EtcdRefusal(status, message));
  expect(error).toMatchObject(expected);
  expect(error.message).toContain(message);
  expect(storeError(error)).toBe(error);
  expect(isLeaseGone(error)).toBe(message.includes('lease not found'));
  expect(isLeaderless(error)).toBe(/no leader|dropped/.test(message));
  expect(isTokenOld(error)).toBe(/token|auth store|name is empty/.test(message));
});

describe('a connection that breaks', () => {
  it.each([true, false])('under a request that has left (%s)', (sent) => {
    const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const error = storeError(new NoAnswer(sent, cause));
    expect(error).toMatchObject(sent ? UNKNOWN : failed(true));
    expect(error.message).toMatch(/broke the connection .*ECONNRESET/);
  });

  it.each([
    ['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', false],
    ['Protocol error', 'ERR_HTTP2_ERROR', false],
    ['connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED', true],
    ['getaddrinfo ENOTFOUND h', 'ENOTFOUND', true],
  ])('by %s', (message, code, retryable) => {
    const error = storeError(new NoAnswer(false, Object.assign(new Error(message), { code })));
    expect(error).toMatchObject(failed(retryable));
  });

  it('may be told by anything at all', () => {
    for (const thrown of [undefined, 'text', new AggregateError([new Error('a')]), 7]) {
      expect(isLockError(storeError(thrown), 'STORE')).toBe(true);
      expect(storeError(thrown).outcome).toBe('unknown');
    }
    expect([undefined, 'no leader', new Error('etcdserver: no leader')].map(isLeaderless)).toEqual([
      ...[false, false, false],
    ]);
  });
});
