/** MySQL or MariaDB as a server whose figures are measured. */
import { migrateMysql, mysqlStore } from 'holdfast/mysql';
import { createConnection, createPool } from 'mysql2/promise';
import type { Database, Facts } from '../sql-stores/database.ts';
import { CONTENDERS, UNCONTENDED } from './contenders.ts';
import { TABLES } from './floors.ts';
import { mysqlUrl } from './urls.ts';

const OTHERS = `SELECT COUNT(*) AS n FROM information_schema.processlist
  WHERE id <> CONNECTION_ID() AND user = 'root'`;

/** The undo logs, in the second, hold old versions of rows until nobody needs them. */
const SIZES = `SELECT
  (SELECT SUM(file_size) FROM information_schema.innodb_sys_tablespaces
    WHERE name LIKE '%/holdfast\\_%') AS tables,
  (SELECT SUM(file_size) FROM information_schema.innodb_sys_tablespaces
    WHERE name = 'innodb_system') AS shared`;

export const mysql: Database = {
  contenders: CONTENDERS,
  uncontended: UNCONTENDED,
  contended: [
    ...['floor: GET_LOCK', 'GET_LOCK, then a durable row', 'holdfast', 'holdfast, fair'],
    ...['@verrou/core', '@verrou/core, tuned'],
  ],
  store: (url, options) => {
    const pool = createPool(mysqlUrl(url));
    return { store: mysqlStore(pool, options), end: () => pool.end() };
  },
  async observe(url) {
    const connection = await createConnection(mysqlUrl(url));
    let asked = 0;
    const rows = async (sql: string): Promise<Record<string, unknown>[]> => {
      asked++;
      return (await connection.query(sql))[0] as Record<string, unknown>[];
    };
    const row = async (sql: string): Promise<Facts> => {
      const [first = {}] = await rows(sql);
      return Object.fromEntries(Object.entries(first).map(([name, n]) => [name, Number(n)]));
    };
    const status = async (): Promise<Facts> => {
      const all = await rows('SHOW GLOBAL STATUS');
      return Object.fromEntries(all.map((one) => [one.Variable_name, Number(one.Value)]));
    };
    await connection.query(TABLES);
    const pool = createPool(mysqlUrl(url));
    await migrateMysql(pool);
    await pool.end();
    return {
      statements: async () => ((await status()).Questions ?? 0) - asked,
      others: async () => (await row(OTHERS)).n ?? 0,
      async facts() {
        const all = await status();
        return {
          'calls of procedures': all.Com_call_procedure ?? Number.NaN,
          'log syncs': all.Innodb_os_log_fsyncs ?? Number.NaN,
          'log bytes': all.Innodb_os_log_written ?? Number.NaN,
          'rows changed': (all.Handler_update ?? 0) + (all.Handler_delete ?? 0),
        };
      },
      async sizes() {
        const { tables = 0, shared = 0 } = await row(SIZES);
        return { 'tables KB': tables / 1024, 'undo and system KB': shared / 1024 };
      },
      tidy: async () => {},
      close: () => connection.end(),
    };
  },
  protocol: {
    headOf: () => 4,
    lengthOf: (head) => head.readUIntLE(0, 3) + 4,
    // Each command begins to count anew; what belongs to the greeting goes on counting.
    asks: (head) => head[3] === 0,
  },
};
