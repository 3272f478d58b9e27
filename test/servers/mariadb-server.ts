/** A real MariaDB, and replicas of it by GTID. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MysqlOptions, type MysqlProduct, MysqlServer } from './mysql-server.ts';
import { runToEnd } from './server-process.ts';

const SYSTEM_TABLES = [
  'mysql_system_tables.sql',
  'mysql_performance_tables.sql',
  'mysql_system_tables_data.sql',
];

const FIRST = [
  'create database test;',
  'create database mysql;',
  'use mysql;',
  'set @auth_root_socket = null;',
];

export const MARIADB: MysqlProduct = {
  name: 'mariadb',
  options: ['--innodb-log-file-size=8M'],
  first: FIRST,
  binlog: ['--log-bin=binlog', '--log-slave-updates', '--gtid-strict-mode', '--sync-binlog=1'],
  makeData: async (command, home, data) => {
    const share = join(home, 'share/mysql');
    const scripts = SYSTEM_TABLES.map((name) => readFile(join(share, name), 'utf8'));
    const all = [...FIRST, ...(await Promise.all(scripts)), ''];
    await runToEnd(['mkdir', data]);
    await runToEnd([...command, '--bootstrap', `--datadir=${data}`], { input: all.join('\n') });
  },
  follow: (host, port) => [
    `change master to master_host = '${host}', master_port = ${port}, master_user = 'root',
      master_use_gtid = slave_pos, master_connect_retry = 1`,
    'start slave',
  ],
  unfollow: ['stop slave', 'reset slave all'],
  position: 'select @@gtid_binlog_pos as written',
  reach: 'select master_gtid_wait(?, 20) as missed',
};

export function startMariadb(options: MysqlOptions = {}): Promise<MysqlServer> {
  return MysqlServer.start(MARIADB, options);
}
