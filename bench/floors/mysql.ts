/**
 * Floors: the fewest statements that do the work, with nothing around them.
 *
 * Uncontended, it is one row that is taken if it is free, and left as a tombstone. Contended, it is
 * a named lock, whose waiters stand in line inside the server, each on a connection of its own; it
 * is on no disk, and a holder that loses its connection has lost it. With a row that its holder
 * takes and leaves, it is on the disk.
 */
import { createPool } from 'mysql2/promise';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';
import { twoStatements } from './two-statements.ts';

const HOLDER = `${process.pid}`;

/** At most so many want a lock at once, each on a connection of its own. */
const CONNECTIONS = 64;

export const TABLES = `CREATE TABLE IF NOT EXISTS bare (
  name varchar(191) CHARACTER SET ascii PRIMARY KEY, owner varchar(32), expires datetime(6) NOT NULL
) ENGINE = InnoDB`;

// Assignments see those before them.
const TEXTS = {
  take: `INSERT INTO bare VALUES (?, ?, SYSDATE(6) + INTERVAL ${TTL_MS / 1000} SECOND)
    ON DUPLICATE KEY UPDATE owner = IF(expires <= SYSDATE(6), VALUES(owner), owner),
      expires = IF(expires <= SYSDATE(6), VALUES(expires), expires)`,
  leave: `UPDATE bare SET owner = NULL, expires = '2000-01-01' WHERE name = ? AND owner = ?`,
};

function withMysql2(url: string): Connected {
  const pool = createPool({ uri: url, connectionLimit: CONNECTIONS });
  const run = async (text: string, values: string[]): Promise<number> =>
    ((await pool.execute(text, values))[0] as { readonly affectedRows: number }).affectedRows;
  return twoStatements(TEXTS, run, () => pool.end());
}

function namedLock(url: string, durable = false): Connected {
  const pool = createPool({ uri: url, connectionLimit: 1_000 });
  return {
    task: (resource) => {
      const name = `bare:${resource}`;
      const connecting = pool.getConnection();
      return async () => {
        const connection = await connecting;
        const [rows] = await connection.query('SELECT GET_LOCK(?, 3600) AS held', [name]);
        const [row] = rows as { held: number | null }[];
        if (row?.held !== 1) throw new Error(`${name} was not granted.`);
        if (durable) await connection.execute(TEXTS.take, [name, HOLDER]);
        return async () => {
          if (durable) await connection.execute(TEXTS.leave, [name, HOLDER]);
          await connection.query('DO RELEASE_LOCK(?)', [name]);
        };
      };
    },
    close: () => pool.end(),
  };
}

export const floors: Readonly<Record<string, Connect>> = {
  'floor: INSERT … ON DUPLICATE KEY + UPDATE, mysql2': withMysql2,
  'floor: GET_LOCK': namedLock,
  'floor: GET_LOCK and a row': (url) => namedLock(url, true),
};
