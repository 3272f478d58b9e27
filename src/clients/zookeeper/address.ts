/** Where ZooKeeper is, and how to connect. Mistakes are found before anything is sent. */
import type { ConnectionOptions } from 'node:tls';
import { UsageError } from '../../base/errors.ts';
import { reading } from '../../base/options.ts';
import { UrlForm } from '../url-form.ts';
import { checkPath } from './paths.ts';

export interface ZookeeperHost {
  readonly host: string;
  readonly port: number;
}

export interface ZookeeperOptions {
  /** Each is `host` or `host:port`; default port 2181, with TLS 2281. */
  readonly servers: readonly string[];
  /** All paths lie below it. It must exist. Default: `/`. */
  readonly chroot?: string;
  readonly auth?: Auth | readonly Auth[];
  /** True, or options of `node:tls`. Default: false. */
  readonly tls?: boolean | ConnectionOptions;
  /** For new nodes. Default: `auth` users may do all; without `auth`, anyone. */
  readonly acl?: readonly Acl[];
}

export interface Destination {
  readonly addresses: readonly ZookeeperHost[];
  readonly chroot: string;
  readonly sessionTimeoutMs: number;
  readonly auths: readonly Auth[];
  readonly tls: ConnectionOptions | undefined;
  readonly acl: readonly Acl[];
}

const ALL = 31;
const SESSION_TIMEOUT_MS = 10_000;
const FORM = new UrlForm(
  'The ZooKeeper URL',
  'zookeeper://user:password@host1:2181,host2,host3/chroot',
);

/** @throws UsageError */
export function destinationOf(address: string | ZookeeperOptions): Destination {
  return reading('The address', () => destination(address));
}

function destination(address: string | ZookeeperOptions): Destination {
  const options = typeof address === 'string' ? optionsIn(address) : address;
  const { servers, chroot = '/', tls = false, auth = [] } = options ?? {};
  if (!Array.isArray(servers) || servers.length === 0) {
    throw new UsageError('servers must name at least one ZooKeeper server.');
  }
  const auths = Array.isArray(auth) ? (auth as readonly Auth[]) : [auth as Auth];
  for (const { scheme } of auths) {
    if (typeof scheme !== 'string' || scheme === '') throw new UsageError('auth needs a scheme.');
  }
  const open: Acl = { perms: ALL, scheme: 'world', id: 'anyone' };
  const own: Acl = { perms: ALL, scheme: 'auth', id: '' };
  return {
    addresses: servers.map((server) => addressIn(server, tls ? 2281 : 2181)),
    chroot: chroot === '/' ? '' : checkPath(chroot),
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    auths,
    tls: tls === true ? {} : tls || undefined,
    acl: options.acl ?? [auths.length > 0 ? own : open],
  };
}

function optionsIn(url: string): ZookeeperOptions {
  const parts = /^zookeeper(s?):\/\/(?:([^/?#]*)@)?([^/?#@\s]+)(\/[^?#]*)?$/.exec(url);
  if (!parts) throw FORM.malformed('it does not fit the form');
  const [, secure, credentials, hosts = '', path = '/'] = parts;
  const auth = credentials === undefined ? undefined : FORM.decoded(credentials);
  if (auth !== undefined && !/^[^:]+:/s.test(auth)) {
    throw FORM.malformed('credentials must be a user and a password');
  }
  return {
    servers: hosts.split(','),
    chroot: FORM.decoded(path).replace(/(?<=.)\/$/, ''),
    tls: secure === 's',
    ...(auth !== undefined && { auth: { scheme: 'digest', auth } }),
  };
}

function addressIn(text: string, defaultPort: number): ZookeeperHost {
  const parts = /^(?:\[([\da-f:.]+)\]|([^:[\]\s/]+))(?::(\d+))?$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2] ?? '';
  const port = Number(parts?.[3] ?? defaultPort);
  if (host === '' || port < 1 || port > 65_535) {
    throw new UsageError('A ZooKeeper server is named by its host, or host:port.');
  }
  return { host, port };
}

/** Proves an identity of the session: mostly `digest` with `user:password`. */
export interface Auth {
  readonly scheme: string;
  readonly auth: string | Uint8Array;
}

/** Grants rights: `perms` is a sum of 1 read, 2 write, 4 create, 8 delete, 16 administer. */
export interface Acl {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}
