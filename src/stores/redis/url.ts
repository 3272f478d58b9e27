/**
 * URLs of Redis. No message repeats any part of them: in a malformed one, any part may be the
 * password.
 */
import { UsageError } from '../../base/errors.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface RedisUrl {
  readonly kind: 'server' | 'socket' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The server, the Sentinels, or nodes of the cluster. */
  readonly addresses: readonly Address[];
  /** Of a socket file, or the name that Sentinels know the primary by. */
  readonly path: string;
  readonly database: number;
  /** Options of the store, as text. */
  readonly query: Readonly<Record<string, string>>;
}

const FORMS: Readonly<Record<RedisUrl['kind'], string>> = {
  server: 'redis://user:password@host:6379/0',
  socket: 'redis+unix:///run/redis.sock?db=0',
  sentinel: 'redis+sentinel://user:password@host1:26379,host2:26379/name/0',
  cluster: 'redis+cluster://user:password@host1:6379,host2:6379',
};

const KINDS: Readonly<Record<string, RedisUrl['kind']>> = {
  unix: 'socket',
  sentinel: 'sentinel',
  cluster: 'cluster',
};

/** `rest` follows the colon of the scheme. @throws UsageError */
export function parseRedisUrl(scheme: string, rest: string): RedisUrl {
  const [protocol = '', suffix = ''] = scheme.split('+');
  const kind = KINDS[suffix] ?? 'server';
  const parts = /^\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(rest);
  if (!parts) throw malformed(kind, 'it does not fit the form');
  const [, credentials = '', hosts = '', path = '', query = ''] = parts;
  const [username, password] = credentials.split(/:(.*)/s, 2);
  const { db, ...options } = Object.fromEntries(new URLSearchParams(query));
  const text = (encoded = ''): string | undefined => decoded(encoded, kind) || undefined;
  return {
    kind,
    tls: protocol === 'rediss',
    username: text(username),
    password: text(password),
    addresses: kind === 'socket' ? noHost(hosts) : addressesIn(hosts, kind),
    ...placeIn(decoded(path, kind), kind, db),
    query: options,
  };
}

function placeIn(
  path: string,
  kind: RedisUrl['kind'],
  db: string | undefined,
): Pick<RedisUrl, 'path' | 'database'> {
  if (kind === 'socket') {
    if (path.length < 2) throw malformed(kind, 'it names no file');
    return { path, database: databaseIn(db, kind) };
  }
  const [, first = '', second, ...more] = path.split('/');
  const tooMuch = kind === 'sentinel' ? more.length > 0 : second;
  if (tooMuch || (kind === 'cluster' && first))
    throw malformed(kind, 'its path has too many parts');
  if (db !== undefined) throw malformed(kind, 'the number of the database belongs in its path');
  if (kind !== 'sentinel') return { path: '', database: databaseIn(first, kind) };
  if (first === '') throw malformed(kind, 'it does not name the primary');
  return { path: first, database: databaseIn(second, kind) };
}

function addressesIn(hosts: string, kind: RedisUrl['kind']): Address[] {
  const list = hosts.split(',');
  if (kind === 'server' && list.length > 1) throw malformed(kind, 'it names several hosts');
  return list.map((text) => {
    const parts = /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/i.exec(text);
    const host = decoded(parts?.[1] ?? parts?.[2] ?? '', kind);
    const port = Number(parts?.[3] ?? (kind === 'sentinel' ? 26_379 : 6379));
    if (host === '' || port < 1 || port > 65_535) {
      throw malformed(kind, 'a host or port in it is missing or wrong');
    }
    return { host, port };
  });
}

function noHost(hosts: string): [] {
  if (hosts !== '') throw malformed('socket', 'a path begins with the third slash');
  return [];
}

function databaseIn(text: string | undefined, kind: RedisUrl['kind']): number {
  if (!/^\d{0,5}$/.test(text ?? '')) throw malformed(kind, 'a database is named by a number');
  return Number(text ?? 0);
}

function decoded(text: string, kind: RedisUrl['kind']): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed(kind, 'a % in it is not followed by two digits');
  }
}

function malformed(kind: RedisUrl['kind'], why: string): UsageError {
  return new UsageError(
    `The Redis URL is malformed: ${why}. The form is '${FORMS[kind]}'; in a user name or` +
      ' password, characters such as / @ : and % are written as %2F, %40, %3A and %25.',
  );
}
