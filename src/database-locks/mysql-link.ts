/** `mysql2` and `mariadb`: the same protocol, and nearly the same methods. */
import { UsageError } from '../base/errors.ts';
import type { Bound, Link } from './link.ts';

/** A connection, or a pool. */
export interface MysqlClient {
  query(options: object): unknown;
  execute(options: object, values: Bound[]): unknown;
  /** mysql2 with callbacks. */
  promise?(): MysqlClient;
  /** mariadb. */
  readonly info?: { readonly status?: number };
}

/** Flags of the session that the server sends with its answers. */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** Whatever is the connection's default: what the answers look like is ours to say. */
const SHAPE = { rowsAsArray: false, nestTables: false, namedPlaceholders: false };

export function mysqlLink(client: MysqlClient, place: 'connection' | 'pool'): Link {
  const connection = typeof client.promise === 'function' ? client.promise() : client;
  const send = async (sql: string, values: Bound[] = []): Promise<unknown> => {
    const options = { ...SHAPE, metaAsArray: false, sql };
    const sent =
      values.length === 0 ? connection.query(options) : connection.execute(options, values);
    if (typeof (sent as PromiseLike<unknown>)?.then !== 'function') {
      throw new UsageError('Take the connection that answers with promises.');
    }
    const answer = await (sent as PromiseLike<unknown>);
    return isPair(answer) ? answer[0] : answer;
  };
  return {
    dialect: 'mysql',
    place,
    rows: send,
    count: async (sql, values) => {
      const { affectedRows } = (await send(sql, values)) as { readonly affectedRows?: unknown };
      return affectedRows;
    },
    begun: async () => {
      if (isBegun(connection.info?.status ?? AUTOCOMMIT)) return true;
      // A statement that does nothing, for the flags of its answer.
      const { serverStatus } = (await send('DO 0')) as { readonly serverStatus?: number };
      return isBegun(serverStatus ?? connection.info?.status ?? AUTOCOMMIT);
    },
  };
}

/** Without autocommit, the next statement begins one. */
function isBegun(status: number): boolean {
  return (status & IN_TRANSACTION) !== 0 || (status & AUTOCOMMIT) === 0;
}

/** mysql2 answers with the rows and the columns; mariadb with the rows, which are objects. */
function isPair(answer: unknown): answer is [unknown, unknown] {
  if (!Array.isArray(answer) || answer.length !== 2) return false;
  return answer[1] === undefined || Array.isArray(answer[1]);
}
