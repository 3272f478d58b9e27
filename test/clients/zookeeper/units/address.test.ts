import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/base/errors.ts';
import { destinationOf, type ZookeeperOptions } from '../../../../src/clients/zookeeper/address.ts';
import { zookeeperClient } from '../../../../src/clients/zookeeper/client.ts';
import { checkPath } from '../../../../src/clients/zookeeper/paths.ts';
import { usageErrorOf } from '../../../support/failures.ts';

describe('a URL', () => {
  it('names servers, a chroot and a user', () => {
    expect(destinationOf('zookeeper://ann:p%40ss:word@h1:2182,h2,[::1]:9/a/b')).toEqual({
      addresses: [
        { host: 'h1', port: 2182 },
        { host: 'h2', port: 2181 },
        { host: '::1', port: 9 },
      ],
      chroot: '/a/b',
      sessionTimeoutMs: 10_000,
      auths: [{ scheme: 'digest', auth: 'ann:p@ss:word' }],
      tls: undefined,
      acl: [{ perms: 31, scheme: 'auth', id: '' }],
    });
  });

  it('may be short, and secure', () => {
    expect(destinationOf('zookeepers://h1/')).toMatchObject({
      addresses: [{ host: 'h1', port: 2281 }],
      ...{ chroot: '', tls: {} },
      acl: [{ perms: 31, scheme: 'world', id: 'anyone' }],
    });
  });

  it.each([
    ...['zookeeper:h1', 'zookeeper://', 'redis://h1', 'zookeeper://h1:0', 'zookeeper://h1:70000'],
    ...['zookeeper://h1,,h2', 'zookeeper://secret@h1', 'zookeeper://:secret@h1'],
    ...['zookeeper://ann:secret%zz@h1', 'zookeeper://ann:sec/ret@h1', 'zookeeper://h1/a//b'],
    ...['zookeeper://h1/a/../b', 'zookeeper://h1/a%00b', 'zookeeper://h1/a?retries=3'],
  ])('%s is refused, without a word of its password', (url) => {
    usageErrorOf(() => destinationOf(url), /secret|sec\/ret/);
  });
});

it.each([
  undefined,
  { servers: [] },
  { servers: ['h 1'] },
  { servers: ['h1'], chroot: 'a' },
  { servers: ['h1'], auth: { scheme: '', auth: 'x' } },
])('options %j are refused', (options) => {
  expect(() => destinationOf(options as ZookeeperOptions)).toThrow(UsageError);
});

it.each([0, -1, Number.NaN, 2 ** 31])('a session of %d ms is not started', (ms) => {
  const client = zookeeperClient('zookeeper://127.0.0.1:1');
  expect(() => client.start(ms)).toThrow(UsageError);
});

describe('a path', () => {
  it.each(['/', '/a', '/a/b.c', '/ä/ß', '/...', '/a b'])('%s is good', (path) => {
    expect(checkPath(path)).toBe(path);
  });

  it.each(['', 'a', '/a/', '//', '/.', '/a/..', '/\0', '/\n', '/\ud800', '/🐢', '/\ufffe'])(
    '%j is refused',
    (path) => {
      expect(() => checkPath(path)).toThrow(UsageError);
    },
  );
});
