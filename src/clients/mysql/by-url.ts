/** A client for a MySQL or MariaDB URL, of an installed package; it connects when it is used. */
import type { Socket } from 'node:net';
import { UnsupportedError } from '../../contract/errors.ts';
import type { SqlDatabase } from '../sql/clients.ts';
import { UrlForm } from '../url-form.ts';
import type { MysqlClient } from './client.ts';

const FORM = new UrlForm('The MySQL URL', 'mysql://user:password@host:3306/database');

export type MysqlByUrl = MysqlClient & SqlDatabase & { end(): unknown };

/** The query apart from the rest. @throws UsageError */
export function splitUrl(rest: string): { readonly place: string; readonly query: string } {
  const [, place, query = ''] = /^(\/\/[^/?#]+\/[^/?#]+)(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) throw FORM.malformed('it does not fit the form');
  return { place, query };
}

/** Tries each product's own client first. @throws UsageError, UnsupportedError without any. */
export async function clientByUrl(scheme: string, url: string): Promise<MysqlByUrl> {
  const makers = [withMysql2, withMariadb];
  if (scheme === 'mariadb') makers.reverse();
  for (const make of makers) {
    const client = await make(url);
    if (client) return client;
  }
  const message = 'A MySQL URL needs a client: run `npm install mysql2` or `npm install mariadb`.';
  throw new UnsupportedError('store', message);
}

async function withMysql2(url: string): Promise<MysqlByUrl | undefined> {
  const mysql2 = await import('mysql2').catch(() => undefined);
  if (!mysql2) return undefined;
  const pool = FORM.reading(() => mysql2.default.createPool(`mysql:${url}`));
  // An idle connection keeps no process alive.
  pool.on('acquire', ({ stream }: Lent) => void stream?.ref());
  pool.on('release', ({ stream }: Lent) => void stream?.unref());
  return pool.promise();
}

/** A pooled connection of mysql2, whose types do not show the socket. */
interface Lent {
  readonly stream?: Pick<Socket, 'ref' | 'unref'>;
}

/** It shows no sockets: it keeps a process alive until its connections have idled for 1 s. */
async function withMariadb(url: string): Promise<MysqlByUrl | undefined> {
  const mariadb = await import('mariadb').catch(() => undefined);
  const pool = `${url}${url.includes('?') ? '&' : '?'}minimumIdle=0&idleTimeout=1`;
  return mariadb && FORM.reading(() => mariadb.default.createPool(`mariadb:${pool}`));
}
