/** Where the servers are. */
import type { ConnectionOptions, SecureContextOptions } from 'node:tls';
import { UsageError } from '../../base/errors.ts';
import { reading, readOptions } from '../../base/options.ts';
import { UrlForm } from '../url-form.ts';
import type { Endpoint } from './channel.ts';

/** Options of `node:tls`: the authority to trust, and a certificate of one's own. */
export interface EtcdTls
  extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'pfx'>,
    Pick<ConnectionOptions, 'rejectUnauthorized'> {
  /** The name that the servers' certificates are for. Default: the host of the address. */
  readonly servername?: string;
}

export interface EtcdAddress {
  /** `host:2379`, or a URL: `https:` or `etcds:` turns TLS on. */
  readonly endpoints: readonly string[];
  readonly username?: string;
  readonly password?: string;
  /** Turns TLS on for all servers, also for those that are named without a scheme. */
  readonly tls?: EtcdTls;
}

export interface EtcdEndpoints {
  readonly endpoints: readonly Endpoint[];
  readonly user: { readonly name: string; readonly password: string } | undefined;
}

const FORM = new UrlForm('The address of etcd', 'etcd://user:password@host1:2379,host2:2379');
const PORT = 2379;
const SECURE: Readonly<Record<string, boolean>> = {
  etcd: false,
  http: false,
  etcds: true,
  https: true,
};
const TLS = ['ca', 'cert', 'key', 'passphrase', 'pfx', 'rejectUnauthorized', 'servername'] as const;

/** @throws UsageError */
export function readAddress(address: string | readonly string[] | EtcdAddress): EtcdEndpoints {
  return reading('The address of etcd', () => {
    if (typeof address === 'string') return addressOf({ endpoints: [address] });
    if (Array.isArray(address)) return addressOf({ endpoints: address });
    const known = ['endpoints', 'username', 'password', 'tls'];
    return addressOf(readOptions(address as EtcdAddress, known, 'the address of etcd'));
  });
}

function addressOf({ endpoints, username, password, tls }: EtcdAddress): EtcdEndpoints {
  if (!Array.isArray(endpoints) || endpoints.length === 0) {
    throw new UsageError('endpoints must be a list of etcd servers.');
  }
  if (tls !== undefined) readOptions(tls, TLS, 'tls');
  const read = endpoints.map((text: unknown) => endpointsIn(text, tls));
  const [named, ...others] = read.flatMap(({ user }) => user ?? []);
  const given = username === undefined ? undefined : { name: username, password: password ?? '' };
  if (others.length > 0 || (named && (given || password !== undefined))) {
    throw new UsageError('The user of etcd is named more than once.');
  }
  if (given === undefined && password !== undefined) {
    throw new UsageError('A password for etcd needs a user name.');
  }
  const user = given ?? named;
  for (const part of [user?.name ?? '', user?.password ?? '']) {
    if (typeof part !== 'string') {
      throw new UsageError('The user and password for etcd must be strings.');
    }
  }
  if (user?.name === '') throw new UsageError('The user name for etcd must not be empty.');
  return { endpoints: read.flatMap((one) => one.endpoints), user };
}

function endpointsIn(text: unknown, tls: EtcdTls | undefined): EtcdEndpoints {
  if (typeof text !== 'string') throw new UsageError('endpoints must be strings.');
  const parts = /^(?:([a-z]+):\/\/)?(?:([^/?#]*)@)?([^/?#@\s]+)\/?$/i.exec(text);
  if (!parts) throw FORM.malformed('it does not fit the form');
  const [, scheme, credentials, hosts = ''] = parts;
  const secure = scheme === undefined ? tls !== undefined : SECURE[scheme.toLowerCase()];
  if (secure === undefined) throw FORM.malformed('its scheme is not etcd, etcds, http or https');
  if (tls !== undefined && !secure) {
    throw new UsageError('tls was given for a server that is named without TLS: use etcds://.');
  }
  const endpoints = hosts.split(',').map((host) => endpointOf(host, secure, tls ?? {}));
  return { endpoints, user: credentials === undefined ? undefined : userIn(credentials) };
}

function endpointOf(text: string, secure: boolean, tls: EtcdTls): Endpoint {
  const parts = /^(\[[\da-f:.]+\]|[a-z\d._-]+)(?::(\d+))?$/i.exec(text);
  const port = Number(parts?.[2] ?? PORT);
  if (!parts || port < 1 || port > 65_535) throw FORM.malformed('a host or port in it is wrong');
  const [, name = ''] = parts;
  const url = `${secure ? 'https' : 'http'}://${name}:${port}`;
  return { url, host: name.replace(/^\[|\]$/g, ''), port, tls: secure ? tls : undefined };
}

function userIn(credentials: string): NonNullable<EtcdEndpoints['user']> {
  const [name = '', password = ''] = credentials.split(/:(.*)/s, 2);
  return { name: FORM.decoded(name), password: FORM.decoded(password) };
}
