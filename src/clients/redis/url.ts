/** URLs of Redis. */

import { UrlForm } from '../url-form.ts';
import type { RedisAddress } from './cluster/topology.ts';

export interface RedisUrl {
  readonly kind: 'server' | 'socket' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The server, the Sentinels, or nodes of the cluster. */
  readonly addresses: readonly RedisAddress[];
  /** The path of a socket file, or the name that Sentinels know the primary by. */
  readonly path: string;
  readonly database: number;
  /** Options of the store, as text. */
  readonly query: Readonly<Record<string, string>>;
}

const FORMS: Readonly<Record<RedisUrl['kind'], UrlForm>> = {
  server: formOf('redis://user:password@host:6379/0'),
  socket: formOf('redis+unix:///run/redis.sock?db=0'),
  sentinel: formOf('redis+sentinel://user:password@host1:26379,host2:26379/name/0'),
  cluster: formOf('redis+cluster://user:password@host1:6379,host2:6379'),
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
  if (!parts) throw FORMS[kind].malformed('it does not fit the form');
  const [, credentials = '', hosts = '', path = '', query = ''] = parts;
  const [username, password] = credentials.split(/:(.*)/s, 2);
  const { db, ...options } = Object.fromEntries(new URLSearchParams(query));
  const text = (encoded = ''): string | undefined => FORMS[kind].decoded(encoded) || undefined;
  return {
    kind,
    tls: protocol === 'rediss',
    username: text(username),
    password: text(password),
    addresses: addressesIn(hosts, kind),
    ...placeIn(FORMS[kind].decoded(path), kind, db),
    query: options,
  };
}

function placeIn(
  path: string,
  kind: RedisUrl['kind'],
  db: string | undefined,
): Pick<RedisUrl, 'path' | 'database'> {
  if (kind === 'socket') {
    if (path.length < 2) throw FORMS[kind].malformed('it names no file');
    return { path, database: databaseIn(db, kind) };
  }
  const [, first = '', second, ...more] = path.split('/');
  const tooMuch = kind === 'sentinel' ? more.length > 0 : second;
  if (tooMuch || (kind === 'cluster' && first))
    throw FORMS[kind].malformed('its path has too many parts');
  if (db !== undefined)
    throw FORMS[kind].malformed('the number of the database belongs in its path');
  if (kind !== 'sentinel') return { path: '', database: databaseIn(first, kind) };
  if (first === '') throw FORMS[kind].malformed('it does not name the primary');
  return { path: first, database: databaseIn(second, kind) };
}

function addressesIn(hosts: string, kind: RedisUrl['kind']): RedisAddress[] {
  if (kind === 'socket' && hosts === '') return [];
  if (kind === 'socket') throw FORMS[kind].malformed('a path begins with the third slash');
  const list = hosts.split(',');
  if (kind === 'server' && list.length > 1) throw FORMS[kind].malformed('it names several hosts');
  return list.map((text) => {
    const parts = /^(?:\[([\da-f:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/i.exec(text);
    const host = FORMS[kind].decoded(parts?.[1] ?? parts?.[2] ?? '');
    const port = Number(parts?.[3] ?? (kind === 'sentinel' ? 26_379 : 6379));
    if (host === '' || port < 1 || port > 65_535) {
      throw FORMS[kind].malformed('a host or port in it is missing or wrong');
    }
    return { host, port };
  });
}

function databaseIn(text: string | undefined, kind: RedisUrl['kind']): number {
  if (!/^\d{0,5}$/.test(text ?? '')) throw FORMS[kind].malformed('a database is named by a number');
  return Number(text ?? 0);
}

function formOf(example: string): UrlForm {
  return new UrlForm('The Redis URL', example);
}
