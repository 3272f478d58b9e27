/** MySQL or MariaDB. */
import { migrateMysql } from 'holdfast/mysql';
import { createConnection } from 'mysql2/promise';
import { floors, TABLES } from '../floors/mysql.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Observer, Place, Subject } from '../measuring/subject.ts';
import { OURS } from './ours.ts';

export const mysql: Subject = {
  name: 'MySQL',
  contenders: { ...floors, ...OURS },
  alone: [['floor: INSERT … ON DUPLICATE KEY + UPDATE, mysql2', 'holdfast']],
  // So many that the first round, which does not count, is long enough to compile JavaScript.
  pairs: [1_500, 1_920],
  goals: [0.8, 4],
  contended: ['floor: GET_LOCK', 'floor: GET_LOCK and a row', 'holdfast', 'holdfast, fair'],
  asks: 'statements',
  crowd: { ratio: 1.5, statements: 2.5 },
  observe,
};

async function observe({ url, pids }: Place): Promise<Observer> {
  const connection = await createConnection(url);
  await connection.query(TABLES);
  await migrateMysql(connection);
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
