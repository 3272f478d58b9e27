/**
 * Checks a connection before the store claims anything on it.
 *
 * Each server of a Galera cluster or of a replication group has row locks, named locks and a clock
 * of its own: the store grants nothing there. A server that is read-only is no primary, whatever
 * its user may do. With a binary log of statements, nothing can be written at READ COMMITTED.
 */
import { StoreError } from '../../contract/errors.ts';
import { type Connection, literal } from './connection.ts';
import { anotherLayout, impossible, NO_ROUTINE, numberOf } from './errors.ts';

/** The layout of the tables that these sources know. */
export const LAYOUT = 1;

const LOOK = `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'read_only',
  'innodb_read_only', 'group_replication_group_name', 'log_bin', 'binlog_format')`;

/**
 * True if its server can end the sleep of a listening session.
 * @throws StoreError if locks cannot be kept there, and what the client throws.
 */
export async function check(connection: Connection, prefix: string): Promise<boolean> {
  const rows = await connection.query(LOOK);
  const values = new Map(rows.map(([name, value]) => [String(name).toLowerCase(), value ?? '']));
  judgeServer((name) => values.get(name) ?? '');
  const [[facts] = []] = await connection
    .query(`CALL ${prefix}facts()`)
    .catch((error: unknown) => missing(connection, prefix, error));
  const [layout = '', wakes] = String(facts).split(' ');
  if (layout !== String(LAYOUT)) throw anotherLayout(layout, LAYOUT);
  return wakes === '1';
}

/** The named lock of a migration. */
export function migrationLock(prefix: string): string {
  return literal(`${prefix}migration`);
}

/** @throws StoreError that is retryable, while a migration replaces the procedures. */
async function missing(connection: Connection, prefix: string, error: unknown): Promise<never> {
  if (numberOf(error) !== NO_ROUTINE) throw error;
  const [[migrating] = []] = await connection.query(
    `SELECT IS_USED_LOCK(${migrationLock(prefix)})`,
  );
  if (!migrating) throw error;
  const message = 'The procedures are being replaced by `holdfast migrate` at this moment.';
  throw new StoreError(message, { retryable: true, outcome: 'failed' });
}

function judgeServer(setting: (name: string) => string): void {
  const isOn = (name: string): boolean => !['', '0', 'OFF'].includes(setting(name).toUpperCase());
  checkVersion(setting('version'));
  if (isOn('wsrep_on')) {
    throw impossible(
      "it belongs to a Galera cluster, whose servers do not see each other's locks" +
        ' (HOLDFAST_GALERA). Give the locks a server of their own',
    );
  }
  if (setting('group_replication_group_name') !== '') {
    throw impossible(
      "it belongs to a replication group, whose servers do not see each other's locks" +
        ' (HOLDFAST_GROUP_REPLICATION). Give the locks a server of their own',
    );
  }
  if (isOn('log_bin') && setting('binlog_format') === 'STATEMENT') {
    throw impossible('its binlog_format is STATEMENT (HOLDFAST_BINLOG). Set MIXED or ROW');
  }
  if (isOn('read_only') || isOn('innodb_read_only')) throw noPrimary();
}

function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.', 2).map(Number);
  const mariadb = /mariadb/i.test(version);
  const old = mariadb ? major < 10 || (major === 10 && minor < 6) : major < 8;
  if (old) throw impossible(`it is ${version}, and MySQL 8.0 or MariaDB 10.6 is needed`);
}

function noPrimary(): StoreError {
  const message =
    'The MySQL server accepts no writes: it is a replica, or read-only. The store looks up the' +
    ' primary again.';
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}
