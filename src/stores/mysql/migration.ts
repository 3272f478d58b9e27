/**
 * Makes the tables and procedures of the locks, or brings them up to date.
 *
 * In MySQL each such statement is a transaction of its own, so they run one after the other under a
 * named lock, for programs of a deployment that do it at the same time. Statements leave alone what
 * is there, and procedures are replaced; tables that a newer version made stay as they are.
 */
import { StoreError } from '../../errors.ts';
import { readOptions } from '../../read-options.ts';
import { connectLike, type MysqlClient } from './client.ts';
import { type Connection, literal } from './connection.ts';
import { anotherLayout, judge, numberOf } from './errors.ts';
import { LAYOUT } from './opening.ts';
import { checkPrefix, PREFIX } from './prefix.ts';
import schema from './schema.sql';

export interface MigrationOptions {
  /** How the names of tables and procedures begin; default `holdfast_`. */
  readonly prefix?: string;
}

const CONNECT_MS = 5000;
/** How long another program's migration may take, in s. */
const TURN_S = 30;
/** There is no such table yet. */
const NO_TABLE = 1146;

/**
 * The SQL that `migrateMysql` runs, for the program `mysql` or `mariadb`.
 *
 * @example
 * import { mysqlMigration } from 'holdfast/mysql';
 *
 * console.log(mysqlMigration({ prefix: 'locks_' }));
 *
 * @throws UsageError for a prefix that is none.
 */
export function mysqlMigration(options: MigrationOptions = {}): string {
  return schema.replaceAll(PREFIX, prefixIn(options, 'mysqlMigration'));
}

/**
 * Makes the tables and procedures that `mysqlStore` needs in the database of this client, or brings
 * them up to date. It does no harm to do it again. Its user must be allowed to create tables and
 * routines, and the locks do what they do as this user.
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
  const turn = literal(`${prefix}migration`);
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
  for (const statement of statements) await connection.query(statement);
}

/** Without the words that only the program `mysql` understands. */
function statementsIn(text: string): string[] {
  return text
    .replace(/^(DELIMITER .*|--.*)$/gm, '')
    .split(/ *\/\/$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

function prefixIn(options: MigrationOptions, what: string): string {
  const { prefix = PREFIX } = readOptions(options, ['prefix'], what);
  return checkPrefix(prefix);
}
