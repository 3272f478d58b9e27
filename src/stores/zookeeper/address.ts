/**
 * Where ZooKeeper is, and how to connect. Mistakes are found before anything is sent. No message
 * repeats any part of a URL: in a malformed one, any part may belong to the password.
 */

import type { ConnectionOptions } from 'node:tls';
import { type Duration, parseDuration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { reading } from '../../base/options.ts';
import type { Acl, Auth } from './acl.ts';
import { checkPath } from './paths.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ZookeeperOptions {
  /** Each is `host` or `host:port`; default port 2181, with TLS 2281. */
  readonly servers: readonly string[];
  /** All paths lie below it. It must exist. Default: `/`. */
  readonly chroot?: string;
  /** How long a session outlives its client; servers set limits of their own. Default: 10 s. */
  readonly sessionTimeout?: Duration;
  readonly auth?: Auth | readonly Auth[];
  /** True, or options of `node:tls`. Default: false. */
  readonly tls?: boolean | ConnectionOptions;
  /** For new nodes. Default: `auth` users may do all; without `auth`, anyone. */
  readonly acl?: readonly Acl[];
}

/** Parsed options. */
export interface Destination {
  readonly addresses: readonly Address[];
  readonly chroot: string;
  readonly sessionTimeoutMs: number;
  readonly auths: readonly Auth[];
  readonly tls: ConnectionOptions | undefined;
  readonly acl: readonly Acl[];
}

const ALL = 31;
const DEFAULT_TIMEOUT = '10s';
const FORM = 'zookeeper://user:password@host1:2181,host2,host3/chroot';

/** @throws UsageError */
export function destinationOf(address: string | ZookeeperOptions): Destination {
  return reading('The address', () => destination(address));
}

function destination(address: string | ZookeeperOptions): Destination {
  const options = typeof address === 'string' ? optionsIn(address) : address;
  const { servers, chroot = '/', tls = false, auth = [], sessionTimeout } = options ?? {};
  if (!Array.isArray(servers) || servers.length === 0) {
    throw new UsageError('servers must name at least one ZooKeeper server.');
  }
  const auths = Array.isArray(auth) ? (auth as readonly Auth[]) : [auth as Auth];
  for (const { scheme } of auths) {
    if (typeof scheme !== 'string' || scheme === '') throw new UsageError('auth needs a scheme.');
  }
  const sessionTimeoutMs = parseDuration(sessionTimeout ?? DEFAULT_TIMEOUT);
  if (!(sessionTimeoutMs >= 1) || sessionTimeoutMs > 2 ** 31 - 1) {
    throw new UsageError('sessionTimeout must be at least 1 ms, and less than 25 days.');
  }
  const open: Acl = { perms: ALL, scheme: 'world', id: 'anyone' };
  const own: Acl = { perms: ALL, scheme: 'auth', id: '' };
  return {
    addresses: servers.map((server) => addressIn(server, tls ? 2281 : 2181)),
    chroot: chroot === '/' ? '' : checkPath(chroot),
    sessionTimeoutMs,
    auths,
    tls: tls === true ? {} : tls || undefined,
    acl: options.acl ?? [auths.length > 0 ? own : open],
  };
}

function optionsIn(url: string): ZookeeperOptions {
  const parts = /^zookeeper(s?):\/\/(?:([^/?#]*)@)?([^/?#@\s]+)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(
    url,
  );
  if (!parts) throw malformed('it does not fit the form');
  const [, secure, credentials, hosts = '', path = '/', query = ''] = parts;
  const { sessionTimeout, ...others } = Object.fromEntries(new URLSearchParams(query));
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw malformed('its query names an unknown option');
  const auth = credentials === undefined ? undefined : decoded(credentials);
  if (auth !== undefined && !/^[^:]+:/s.test(auth)) {
    throw malformed('credentials must be a user and a password');
  }
  return {
    servers: hosts.split(','),
    chroot: decoded(path).replace(/(?<=.)\/$/, ''),
    tls: secure === 's',
    ...(auth !== undefined && { auth: { scheme: 'digest', auth } }),
    ...(sessionTimeout !== undefined && { sessionTimeout: sessionTimeout as Duration }),
  };
}

function addressIn(text: string, defaultPort: number): Address {
  const parts = /^(?:\[([\da-f:.]+)\]|([^:[\]\s/]+))(?::(\d+))?$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2] ?? '';
  const port = Number(parts?.[3] ?? defaultPort);
  if (host === '' || port < 1 || port > 65_535) {
    throw new UsageError('A ZooKeeper server is named by its host, or host:port.');
  }
  return { host, port };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed('a % in it is not followed by two digits');
  }
}

function malformed(why: string): UsageError {
  return new UsageError(
    `The ZooKeeper URL is malformed: ${why}. The form is '${FORM}'; in a user name or` +
      ' password, characters such as / @ : and % are written as %2F, %40, %3A and %25.',
  );
}
