/**
 * Makes a session fit for the store, and checks its server before anything is claimed there.
 *
 * The settings hold whatever the server's defaults are; every statement relies on them:
 * - autocommit, so that each is a transaction of its own, and COMMIT begins no other one
 *   (`completion_type`);
 * - READ COMMITTED, in which a statement sees what was committed before it and locks no gap, and
 *   READ WRITE; and no limits to what a statement changes or returns;
 * - a wait for a row ends soon; a wait for a table that is being altered ends after the connection
 *   has been given up, or such sessions would pile up in the server;
 * - one time zone for all times that are compared, and the server's own time.
 * Each server of a Galera cluster or of a replication group has row locks, named locks and a clock
 * of its own: the store grants nothing there. A server that is read-only is not a primary, whatever
 * its user may do. With a binary log of statements, nothing can be written at READ COMMITTED.
 * What would break it: a proxy that gives statements of one session to several, and does not carry
 * these settings along.
 */
import { first } from '../../clients/abortable.ts';
import type { ConnectMysql, MysqlSession } from '../../clients/mysql/connection.ts';
import { MYSQL } from '../../clients/mysql/errors.ts';
import { impossible, noPrimary } from '../../clients/sql/judge.ts';
import type { StoreError } from '../../contract/errors.ts';

const SETTINGS = `SET NAMES utf8mb4, autocommit = 1, completion_type = 0, time_zone = '+00:00',
  timestamp = DEFAULT, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', sql_safe_updates = 0,
  sql_select_limit = 18446744073709551615, innodb_lock_wait_timeout = 1, lock_wait_timeout = 5`;

const LEVEL = 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE';

export function prepared(connect: ConnectMysql): ConnectMysql {
  return async (terms) => {
    const connection = await connect(terms);
    return first(connection, terms.signal, async () => {
      await connection.query(SETTINGS);
      await connection.query(LEVEL);
      return connection;
    });
  };
}

const LOOK = `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'read_only',
  'innodb_read_only', 'group_replication_group_name', 'log_bin', 'binlog_format')`;

/** @throws StoreError if locks cannot be kept there, and what the client throws. */
export async function check(connection: MysqlSession): Promise<void> {
  const rows = await connection.query(LOOK);
  const values = new Map(rows.map(([name, value]) => [String(name).toLowerCase(), value ?? '']));
  const setting = (name: string): string => values.get(name) ?? '';
  const isOn = (name: string): boolean => !['', '0', 'OFF'].includes(setting(name).toUpperCase());
  checkVersion(setting('version'));
  if (isOn('wsrep_on')) throw oneOfMany('a Galera cluster', 'HOLDFAST_GALERA');
  if (setting('group_replication_group_name') !== '') {
    throw oneOfMany('a replication group', 'HOLDFAST_GROUP_REPLICATION');
  }
  if (isOn('log_bin') && setting('binlog_format') === 'STATEMENT') {
    throw impossible(MYSQL, 'its binlog_format is STATEMENT (HOLDFAST_BINLOG). Set MIXED or ROW');
  }
  if (isOn('read_only') || isOn('innodb_read_only')) throw noPrimary(MYSQL);
}

function oneOfMany(what: string, code: string): StoreError {
  const why = `it belongs to ${what}, whose servers do not see each other's locks (${code})`;
  return impossible(MYSQL, `${why}. Give the locks a server of their own`);
}

function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.', 2).map(Number);
  const mariadb = /mariadb/i.test(version);
  const old = mariadb ? major < 10 || (major === 10 && minor < 6) : major < 8;
  if (old) throw impossible(MYSQL, `it is ${version}, and MySQL 8.0 or MariaDB 10.6 is needed`);
}
