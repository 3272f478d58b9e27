/** MySQL or MariaDB, with each client package. */
import { migrateMysql } from 'holdfast/mysql';
import { createConnection, createPool } from 'mysql2/promise';
import { floors, mariadbUrl, mysqlUrl, TABLES } from '../floors/mysql.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Connect, Place, Work } from '../measuring/subject.ts';
import { mysqlRivals } from '../rivals/sql.ts';
import { OURS } from './ours.ts';
import { SQL, type SqlObserver, type SqlSubject } from './sql.ts';

const OTHERS = `SELECT COUNT(*) AS n FROM information_schema.processlist
  WHERE id <> CONNECTION_ID() AND user = 'root'`;

/** The undo logs, in the second, hold old versions of rows until nobody needs them. */
const SIZES = `SELECT
  (SELECT SUM(file_size) / 1024 FROM information_schema.innodb_sys_tablespaces
    WHERE name LIKE '%/holdfast\\_%') AS \`tables KB\`,
  (SELECT SUM(file_size) / 1024 FROM information_schema.innodb_sys_tablespaces
    WHERE name = 'innodb_system') AS \`undo and system KB\``;

/** Each client package is taken for a scheme of its own. */
const withMysql2: Connect = (url) => OURS.holdfast(mysqlUrl(url));

export const mysql: SqlSubject = {
  ...SQL,
  name: 'MySQL',
  contenders: {
    ...floors,
    ...{ holdfast: withMysql2, 'holdfast, mysql2': withMysql2 },
    'holdfast, fair': (url) => OURS['holdfast, fair'](mysqlUrl(url)),
    'holdfast, mariadb': (url) => OURS.holdfast(mariadbUrl(url)),
    ...mysqlRivals,
  },
  alone: [
    ['floor: INSERT … ON DUPLICATE KEY + UPDATE, mysql2', 'holdfast, mysql2', '@verrou/core'],
    ['floor: INSERT … ON DUPLICATE KEY + UPDATE, mariadb', 'holdfast, mariadb'],
  ],
  contended: [
    ...['floor: GET_LOCK', 'GET_LOCK, then a durable row', 'holdfast', 'holdfast, fair'],
    ...['@verrou/core', '@verrou/core, tuned'],
  ],
  observe,
  protocol: {
    headOf: () => 4,
    lengthOf: (head) => head.readUIntLE(0, 3) + 4,
    // Each command begins to count anew; what belongs to the greeting goes on counting.
    asks: (head) => head[3] === 0,
  },
};

async function observe({ url, pids }: Place): Promise<SqlObserver> {
  const connection = await createConnection(mysqlUrl(url));
  let asked = 0;
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => {
    asked++;
    return (await connection.query(sql))[0] as Record<string, unknown>[];
  };
  const row = async (sql: string): Promise<Work> => {
    const [first = {}] = await rows(sql);
    return Object.fromEntries(Object.entries(first).map(([name, n]) => [name, Number(n)]));
  };
  const status = async (): Promise<Work> => {
    const all = await rows('SHOW GLOBAL STATUS');
    return Object.fromEntries(all.map((one) => [one.Variable_name, Number(one.Value)]));
  };
  await connection.query(TABLES);
  const pool = createPool(mysqlUrl(url));
  await migrateMysql(pool);
  await pool.end();
  const statements = async (): Promise<number> => ((await status()).Questions ?? 0) - asked;
  return {
    work: async () => ({ statements: await statements(), 'server CPU µs': cpuMicros(pids) }),
    others: async () => (await row(OTHERS)).n ?? 0,
    async facts() {
      const all = await status();
      return {
        'log syncs': all.Innodb_os_log_fsyncs ?? Number.NaN,
        'log bytes': all.Innodb_os_log_written ?? Number.NaN,
        'rows changed': (all.Handler_update ?? 0) + (all.Handler_delete ?? 0),
      };
    },
    sizes: () => row(SIZES),
    tidy: async () => {},
    close: () => connection.end(),
  };
}
