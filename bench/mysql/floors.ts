/**
 * Floors: the fewest statements that do the work, with nothing around them.
 *
 * Uncontended, it is one row that is taken if it is free, and left as a tombstone. Contended, it is
 * a named lock, whose waiters stand in line inside the server, each on a connection of its own; it
 * is on no disk, and whoever loses his connection has lost it. Fairer is that lock as the baton of
 * who writes such a row: what is held is on disk then, though nobody sees who waits.
 */
import { createPool as createMariadb } from 'mariadb';
import { createPool, type PoolConnection } from 'mysql2/promise';
import { type Connected, TTL_MS } from '../contender.ts';
import { mariadbUrl, mysqlUrl } from './urls.ts';

/** At most so many want a lock at once, each on a connection of its own. */
const CONNECTIONS = 64;

export const TABLES = `CREATE TABLE IF NOT EXISTS bare (
  name varchar(191) CHARACTER SET ascii PRIMARY KEY, owner varchar(32), expires datetime(6) NOT NULL
) ENGINE = InnoDB`;

// Assignments see those before them.
const TAKE = `INSERT INTO bare VALUES (?, ?, SYSDATE(6) + INTERVAL ${TTL_MS / 1000} SECOND)
  ON DUPLICATE KEY UPDATE owner = IF(expires <= SYSDATE(6), VALUES(owner), owner),
    expires = IF(expires <= SYSDATE(6), VALUES(expires), expires)`;
const LEAVE = `UPDATE bare SET owner = NULL, expires = '2000-01-01' WHERE name = ? AND owner = ?`;

type Run = (text: string, values: string[]) => Promise<{ readonly affectedRows: number }>;

function twoStatements(run: Run, close: () => Promise<unknown>): Connected {
  return {
    task: (resource) => {
      const values = [`bare:${resource}`, 'id'];
      return async () => {
        if ((await run(TAKE, values)).affectedRows === 0) throw new Error('The lock is taken.');
        return () => run(LEAVE, values);
      };
    },
    close,
  };
}

export async function bareMysql2(url: string): Promise<Connected> {
  const pool = createPool({ uri: mysqlUrl(url), connectionLimit: CONNECTIONS });
  return twoStatements(
    async (text, values) => (await pool.execute(text, values))[0] as { affectedRows: number },
    () => pool.end(),
  );
}

export async function bareMariadb(url: string): Promise<Connected> {
  const pool = createMariadb(`${mariadbUrl(url)}?connectionLimit=${CONNECTIONS}&minimumIdle=1`);
  return twoStatements(
    (text, values) => pool.execute(text, values),
    () => pool.end(),
  );
}

export function namedLock(url: string): Promise<Connected> {
  return baton(url, async () => async () => {});
}

export function namedLockAndRow(url: string): Promise<Connected> {
  return baton(url, async (connection, name) => {
    await connection.execute(TAKE, [name, 'id']);
    return () => connection.execute(LEAVE, [name, 'id']);
  });
}

type Take = (connection: PoolConnection, name: string) => Promise<() => Promise<unknown>>;

async function baton(url: string, take: Take): Promise<Connected> {
  const pool = createPool({ uri: mysqlUrl(url), connectionLimit: 1_000 });
  return {
    task: (resource) => {
      const name = `bare:${resource}`;
      const connecting = pool.getConnection();
      return async () => {
        const connection = await connecting;
        const [rows] = await connection.query('SELECT GET_LOCK(?, 3600) AS held', [name]);
        const [row] = rows as { held: number | null }[];
        if (row?.held !== 1) throw new Error(`${name} was not granted.`);
        const leave = await take(connection, name);
        return async () => {
          await leave();
          await connection.query('DO RELEASE_LOCK(?)', [name]);
        };
      };
    },
    close: () => pool.end(),
  };
}
