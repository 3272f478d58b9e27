/**
 * Connections of `mariadb`, version 3.
 *
 * Its pools and connections rightly keep their settings private, because of the password. But the
 * emitter inside them is `this` of its listeners, and shows the settings that it was made with. So
 * with its first verb the store borrows a connection from the pool (loan.ts), and returns it.
 * What would break it: a version that hides that, too. The store notices before it sends anything.
 */
import { UsageError } from '../../base/errors.ts';
import { first } from '../abortable.ts';
import { learntOnLoan } from '../sql/loan.ts';
import { asked, eitherWay, hangUp, type SqlCallback } from '../sql/session.ts';
import { AS_TEXT, bytesOf, type ConnectMysql, type MysqlSession, rowsIn } from './connection.ts';

/** As much of a `Pool` or `Connection` of either flavour as identifies it. */
export interface MariadbClient {
  query(...args: never[]): unknown;
  execute(...args: never[]): unknown;
  batch(...args: never[]): unknown;
}

interface Pool {
  getConnection(done: SqlCallback<MariadbSession>): unknown;
  activeConnections(): number;
}

interface MariadbSession {
  on(event: string, listener: (this: unknown) => void): unknown;
  removeListener(event: string, listener: () => void): unknown;
  release?(): unknown;
}

type MariadbCall = (
  query: object,
  resolve: (results: unknown) => void,
  reject: (error: unknown) => void,
) => void;

interface Base {
  readonly opts: Readonly<Record<string, unknown>>;
  readonly constructor: unknown;
  readonly socket?: { unref?(): unknown; destroy(): unknown };
  connect(): Promise<unknown>;
  on(event: 'error' | 'end', listener: (said: unknown) => void): unknown;
  readonly query: MariadbCall;
  readonly prepareExecute: MariadbCall;
  end(query: object, resolve: () => void, reject: () => void): void;
}

const OPTIONS = { ...AS_TEXT, metaAsArray: false, insertIdAsNumber: false, checkDuplicate: false };

export function mariadbConnect(client: object): ConnectMysql {
  const lent = (): number | undefined => (client as Partial<Pool>).activeConnections?.();
  const settings = learntOnLoan('mariadb', () => baseOf(client), lent);
  return async ({ signal, lost }) => {
    const like = await settings(signal);
    const base = new (like.constructor as new (options: object) => Base)(ownOptions(like.opts));
    base.on('error', lost);
    base.on('end', () => lost(new Error('Connection lost')));
    const end = (): void => void base.socket?.destroy();
    await first({ end }, signal, () => base.connect());
    return connectionOf(base);
  };
}

function connectionOf(base: Base): MysqlSession {
  const ask = (how: 'query' | 'prepareExecute', query: object) =>
    asked((done) => {
      const reply = (results: unknown): void => done(undefined, results);
      base[how]({ ...query, opts: OPTIONS }, reply, (error) => done(error, undefined));
    }).map(rowsIn);
  return {
    query: (sql) => ask('query', { sql }),
    execute: (sql, values) => ask('prepareExecute', { sql, values: bytesOf(values) }),
    unref: () => void base.socket?.unref?.(),
    end: () => {
      const nothing = (): void => {};
      hangUp(base.socket, () => base.end({}, nothing, nothing));
    },
  };
}

async function baseOf(client: object): Promise<Base> {
  if (!('getConnection' in client)) return baseUnder(client as MariadbSession);
  const borrowed = await eitherWay<MariadbSession>((done) => (client as Pool).getConnection(done));
  try {
    return baseUnder(borrowed);
  } finally {
    borrowed.release?.();
  }
}

function baseUnder(wrapped: MariadbSession): Base {
  let base: unknown;
  const noteBase = function (this: unknown): void {
    base = this;
  };
  const nothing = (): void => {};
  // An emitter emits `newListener` for each new listener.
  wrapped.on('newListener', noteBase);
  wrapped.on('holdfast', nothing);
  wrapped.removeListener('newListener', noteBase);
  wrapped.removeListener('holdfast', nothing);
  const { opts } = (base ?? {}) as Partial<Base>;
  if (typeof opts === 'object' && opts !== null && 'host' in opts) return base as Base;
  const message = 'This version of the package mariadb does not show how it connects.';
  throw new UsageError(`${message} Give the locks a client of mysql2.`);
}

/** Options are an emitter, too, whose listeners belong to their own connection. */
function ownOptions({ _events, _eventsCount, _maxListeners, ...opts }: Base['opts']): object {
  return {
    ...opts,
    multipleStatements: true,
    foundRows: true,
    pipelining: false,
    prepareCacheLength: 16,
    keepAliveDelay: 10_000,
    queryTimeout: 0,
  };
}
