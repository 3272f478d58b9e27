/**
 * Makes the tables and procedures of the locks, or brings them up to date.
 *
 * In MySQL each such statement is a transaction of its own, so they run one after the other under a
 * named lock, for programs of a deployment that do it at the same time. Existing tables are left
 * alone, also those that a newer version made.
 * Invariant: afterwards each procedure is the one of this text. Each has a hash of its text as its
 * comment; the migration replaces one that has another hash, or another user's rights, and leaves
 * the others alone: programs use them meanwhile, and MySQL cannot replace a procedure in one step,
 * so callers in that moment find none. Since each has its own hash, it does not matter where an
 * earlier migration stopped, or which version made it.
 * What would break it: changing a procedure and keeping its comment.
 */
import { createHash } from 'node:crypto';
import { readOptions } from '../../base/options.ts';
import { StoreError } from '../../contract/errors.ts';
import { connectLike, type MysqlClient } from './client.ts';
import type { Connection } from './connection.ts';
import { anotherLayout, judge, numberOf } from './errors.ts';
import { LAYOUT, migrationLock } from './opening.ts';
import { checkPrefix, PREFIX } from './prefix.ts';
import schema from './schema.sql';

export interface MigrationOptions {
  /** The prefix of the tables and procedures; default `holdfast_`. */
  readonly prefix?: string;
}

const CONNECT_MS = 5000;
/** How long another program's migration may take, in s. */
const TURN_S = 30;
/** How long a procedure that is to be replaced may be in use, in s: longer than the bell waits. */
const IN_USE_S = 30;
/** A procedure in the text, and the name and hash in a statement that makes one. */
const ROUTINE = /^CREATE PROCEDURE [\s\S]*?^END \/\/$/gm;
const MADE = /^CREATE PROCEDURE (\w+)[\s\S]*? COMMENT '(\w+)' SQL/;
/** The table does not exist yet. */
const NO_TABLE = 1146;

/**
 * The SQL that `migrateMysql` runs, for the program `mysql` or `mariadb`.
 *
 * @example
 * import { mysqlMigration } from 'holdfast/mysql';
 *
 * console.log(mysqlMigration({ prefix: 'locks_' }));
 *
 * @throws UsageError for a malformed prefix.
 */
export function mysqlMigration(options: MigrationOptions = {}): string {
  return schema
    .replaceAll(PREFIX, prefixIn(options, 'mysqlMigration'))
    .replace(ROUTINE, (text) => text.replace(' SQL', ` COMMENT '${hashOf(text)}' SQL`));
}

/**
 * Makes the tables and procedures that `mysqlStore` needs in the database of this client, or brings
 * them up to date. Doing it again, also while locks are in use, changes nothing. Its user must be
 * allowed to create tables and routines, and the locks use the rights of this user.
 *
 * @example
 * import { migrateMysql } from 'holdfast/mysql';
 *
 * await migrateMysql(mysql); // once, where the other tables are made, too
 *
 * @throws UsageError for anything that is no client, StoreError if the database refuses.
 */
export async function migrateMysql(
  client: MysqlClient,
  options: MigrationOptions = {},
): Promise<void> {
  const prefix = prefixIn(options, 'migrateMysql');
  const text = mysqlMigration(options);
  const connect = connectLike(client);
  try {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const connection = await connect({ signal, lost: () => {} });
    await migrate(connection, prefix, statementsIn(text)).finally(() => connection.end());
  } catch (error) {
    throw judge(error, 'open').error;
  }
}

async function migrate(
  connection: Connection,
  prefix: string,
  statements: readonly string[],
): Promise<void> {
  const turn = migrationLock(prefix);
  const [[free] = []] = await connection.query(`SELECT GET_LOCK(${turn}, ${TURN_S})`);
  if (free !== '1') {
    const message = 'Another program has been migrating the database for too long.';
    throw new StoreError(message, { retryable: true, outcome: 'failed' });
  }
  const [[layout = '0'] = []] = await connection
    .query(`SELECT MAX(layout) FROM ${prefix}store`)
    .catch((error: unknown) => {
      if (numberOf(error) === NO_TABLE) return [];
      throw error;
    });
  if (Number(layout) > LAYOUT) throw anotherLayout(String(layout), LAYOUT);
  await connection.query(`SET autocommit = 1, lock_wait_timeout = ${IN_USE_S}`);
  const there = await routinesAt(connection);
  for (const statement of statements) {
    const [, name, hash] = MADE.exec(statement) ?? [];
    if (name === undefined) await connection.query(statement);
    else if (there.get(name) !== hash) await replace(connection, name, statement);
  }
}

/** The hashes of the procedures that run with the rights of the migrating user. */
async function routinesAt(connection: Connection): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await connection.query(`SELECT routine_name, routine_comment
    FROM information_schema.routines
    WHERE routine_schema = DATABASE() AND definer = CURRENT_USER()`);
  return new Map(rows.map(([name, comment]) => [name, comment]));
}

/** Replaces a procedure, in one step where the server can. */
async function replace(connection: Connection, name: string, statement: string): Promise<void> {
  const [[version] = []] = await connection.query('SELECT VERSION()');
  if (/mariadb/i.test(String(version))) {
    await connection.query(statement.replace('CREATE', 'CREATE OR REPLACE'));
    return;
  }
  await connection.query(`DROP PROCEDURE IF EXISTS ${name}`);
  await connection.query(statement);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Without the words that only the program `mysql` understands, and the drops of `replace`. */
function statementsIn(text: string): string[] {
  return text
    .replace(/^(DELIMITER .*|--.*)$/gm, '')
    .split(/ *\/\/$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '' && !statement.startsWith('DROP PROCEDURE'));
}

function prefixIn(options: MigrationOptions, what: string): string {
  const { prefix = PREFIX } = readOptions(options, ['prefix'], what);
  return checkPrefix(prefix);
}
