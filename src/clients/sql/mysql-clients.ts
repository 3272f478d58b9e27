/** Statements through `mysql2` and `mariadb`. */
import { type ClientAnswer, endAfter, type SqlSender } from './client.ts';
import { eitherWay, type SqlCallback } from './session.ts';
import type { Bound } from './sql.ts';

/** `mysql2` and `mariadb`: the same protocol, and nearly the same methods. */
export interface Mysql {
  query(options: object, values: undefined, done: SqlCallback<unknown>): unknown;
  execute(options: object, values: Bound[], done: SqlCallback<unknown>): unknown;
  /** mysql2 with callbacks. */
  promise?(): Mysql;
  /** mariadb. */
  readonly info?: { readonly status?: number };
}

/** Flags of the session that the server sends with its replies. */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

const SHAPE = { rowsAsArray: false, nestTables: false, namedPlaceholders: false };

export function mysql(given: Mysql): SqlSender {
  const connection = promising(given);
  const send = async (sql: string, values: Bound[] = []): Promise<unknown> => {
    const options = { ...SHAPE, metaAsArray: false, sql };
    const answer = await eitherWay<unknown>((done) =>
      values.length === 0
        ? connection.query(options, undefined, done)
        : connection.execute(options, values, done),
    );
    return isPair(answer) ? answer[0] : answer;
  };
  return {
    dialect: 'mysql',
    rows: send,
    count: async (sql, values) => ((await send(sql, values)) as ClientAnswer).affectedRows,
    begun: async () => {
      if (isBegun(connection.info?.status)) return true;
      // A statement that does nothing, for the flags of its reply.
      const { serverStatus } = (await send('DO 0')) as { readonly serverStatus?: number };
      return isBegun(serverStatus ?? connection.info?.status);
    },
  };
}

export interface MysqlPool extends Mysql {
  getConnection(done: SqlCallback<MysqlLent>): unknown;
}

interface MysqlLent extends Mysql {
  release(): void;
  destroy(): void;
}

export function mysqlPool(given: MysqlPool): SqlSender {
  const pool = promising(given);
  return {
    ...mysql(pool),
    borrow: async () => {
      const one = await eitherWay<MysqlLent>((done) => pool.getConnection(done));
      const { rows } = mysql(one);
      let status: number | undefined;
      return {
        rows,
        count: async (sql, values) => {
          const result = (await rows(sql, values)) as ClientAnswer;
          status = (result.serverStatus ?? one.info?.status) as number | undefined;
          return result.affectedRows;
        },
        state: () => {
          if (status === undefined) return undefined;
          if ((status & AUTOCOMMIT) === 0) return 'manual';
          return (status & IN_TRANSACTION) === 0 ? 'idle' : 'begun';
        },
        giveBack: () => one.release(),
        end: () => endAfter(rows('ROLLBACK', []), () => one.destroy()),
      };
    },
  };
}

function promising<T extends Mysql>(client: T): T {
  return typeof client.promise === 'function' ? (client.promise() as T) : client;
}

/** Without autocommit, the next statement begins a transaction. */
function isBegun(status: number = AUTOCOMMIT): boolean {
  return (status & IN_TRANSACTION) !== 0 || (status & AUTOCOMMIT) === 0;
}

/** mysql2 returns the rows and the columns; mariadb returns the rows, which are objects. */
function isPair(answer: unknown): answer is [unknown, unknown] {
  if (!Array.isArray(answer) || answer.length !== 2) return false;
  return answer[1] === undefined || Array.isArray(answer[1]);
}
