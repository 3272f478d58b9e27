/** MySQL or MariaDB. */
import { migrateMysql } from 'holdfast/mysql';
import { createConnection, createPool } from 'mysql2/promise';
import { floors, mysqlUrl, TABLES } from '../floors/mysql.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Connect, Observer, Place, Subject } from '../measuring/subject.ts';
import { OURS } from './ours.ts';

const withMysql2: Connect = (url) => OURS.holdfast(mysqlUrl(url));

export const mysql: Subject = {
  name: 'MySQL',
  contenders: {
    ...{ ...floors, holdfast: withMysql2, 'holdfast, mysql2': withMysql2 },
    'holdfast, fair': (url) => OURS['holdfast, fair'](mysqlUrl(url)),
  },
  alone: [['floor: INSERT … ON DUPLICATE KEY + UPDATE, mysql2', 'holdfast, mysql2']],
  // So many that the first round, which does not count, is long enough to compile JavaScript.
  pairs: [1_500, 1_920],
  goals: [0.8, 4],
  contended: ['floor: GET_LOCK', 'floor: GET_LOCK and a row', 'holdfast', 'holdfast, fair'],
  asks: 'statements',
  crowd: { ratio: 1.5, statements: 2.5 },
  observe,
};

async function observe({ url, pids }: Place): Promise<Observer> {
  const connection = await createConnection(mysqlUrl(url));
  await connection.query(TABLES);
  const pool = createPool(mysqlUrl(url));
  await migrateMysql(pool);
  await pool.end();
  let asked = 0;
  const statements = async (): Promise<number> => {
    asked++;
    const [rows] = await connection.query("SHOW GLOBAL STATUS LIKE 'Questions'");
    return Number((rows as { readonly Value: string }[])[0]?.Value) - asked;
  };
  return {
    work: async () => ({ statements: await statements(), 'server CPU µs': cpuMicros(pids) }),
    close: () => connection.end(),
  };
}
