import { describe, expect, it } from 'vitest';
import { type EtcdAddress, readAddress } from '../../../../src/clients/etcd/address.ts';
import { usageErrorOf } from '../../../support/failures.ts';

describe('an address of etcd', () => {
  it.each<[string | readonly string[] | EtcdAddress, string[]]>([
    ['etcd://h1', ['http://h1:2379']],
    ['etcd://h1:1,h2,h3:3', ['http://h1:1', 'http://h2:2379', 'http://h3:3']],
    ['etcds://h1,h2/', ['https://h1:2379', 'https://h2:2379']],
    ['http://127.0.0.1:2379', ['http://127.0.0.1:2379']],
    ['https://etcd.example.com', ['https://etcd.example.com:2379']],
    ['h1:4', ['http://h1:4']],
    ['etcd://[::1]:7', ['http://[::1]:7']],
    [
      ['etcd://a', 'https://b:5'],
      ['http://a:2379', 'https://b:5'],
    ],
    [{ endpoints: ['a', 'b'], tls: {} }, ['https://a:2379', 'https://b:2379']],
  ])('%j', (address, urls) => {
    expect(readAddress(address).endpoints.map(({ url }) => url)).toEqual(urls);
  });

  it('may name a user', () => {
    const user = { name: 'ann@x', password: 'a:b/c%' };
    expect(readAddress('etcd://ann%40x:a:b%2Fc%25@h').user).toEqual(user);
    const { name: username, password } = user;
    expect(readAddress({ endpoints: ['h'], username, password }).user).toEqual(user);
    expect(readAddress('etcd://h').user).toBe(undefined);
  });

  it('hands on what TLS needs', () => {
    const tls = { ca: 'authority', servername: 'etcd' };
    expect(readAddress({ endpoints: ['etcds://h'], tls }).endpoints[0]?.tls).toEqual(tls);
  });

  const bad: [string, unknown][] = [
    ['nothing', ''],
    ['no string', 7],
    ['null', null],
    ['no endpoints', []],
    ['no endpoints in an object', { endpoints: [] }],
    ['an endpoint that is no string', [7]],
    ['endpoints that are a string', { endpoints: 'h' }],
    ['an unknown option', { endpoints: ['h'], user: 'ann' }],
    ['an unknown option of TLS', { endpoints: ['h'], tls: { CA: 'x' } }],
    ['another scheme', 'redis://secret:secret@h'],
    ['a path', 'etcd://secret@h/path'],
    ['a query', 'etcd://secret@h?a=b'],
    ['a port that is none', 'etcd://u:secret@h:70000'],
    ['a port of zero', 'etcd://u:secret@h:0'],
    ['an empty host', 'etcd://u:secret@h1,,h2'],
    ['a space', 'etcd://u:secret@h h'],
    ['a lone percent sign', 'etcd://u:secret%@h'],
    ['an empty user', 'etcd://:secret@h'],
    ['two users', ['etcd://a:secret@h', 'etcd://b:secret@i']],
    ['a user in both places', { endpoints: ['etcd://a:secret@h'], username: 'b' }],
    ['a password alone', { endpoints: ['h'], password: 'secret' }],
    ['a user that is no string', { endpoints: ['h'], username: 7 }],
    ['a password that is no string', { endpoints: ['h'], username: 'a', password: 7 }],
    ['TLS for a server without it', { endpoints: ['etcd://h'], tls: {} }],
    [
      'a getter that throws',
      {
        get endpoints(): never {
          throw new Error('no');
        },
      },
    ],
  ];
  it.each(bad)('is refused with %s, and no secret is repeated', (_, address) => {
    usageErrorOf(() => readAddress(address as string), 'secret');
  });
});
