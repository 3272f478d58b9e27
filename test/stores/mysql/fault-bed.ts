/** MySQL and MariaDB as the fault tests of all stores see them. */
import type { Store } from 'holdfast';
import { type MysqlClient, type MysqlOptions, migrateMysql, mysqlStore } from 'holdfast/mysql';
import { createPool as mariadbPool } from 'mariadb';
import { createPool } from 'mysql2';
import { type Connection, createConnection } from 'mysql2/promise';
import { tablesOf } from '../../../src/stores/mysql/fragments.ts';
import { raiseHighest, sweep } from '../../../src/stores/mysql/statements.ts';
import { MAX_TTL_MS, type Place, sleep } from '../../methods/faults/bed.ts';
import { SqlBed } from '../../methods/faults/sql-bed.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import type { MysqlServer, MysqlOptions as ServerOptions } from '../../servers/mysql-server.ts';
import { startMysql } from '../../servers/mysql-server.ts';

/** What starts one of each. */
export const PRODUCTS: readonly [['MariaDB', typeof startMariadb], ['MySQL', typeof startMysql]] = [
  ['MariaDB', startMariadb],
  ['MySQL', startMysql],
];

/** A session past the store, as a user who may do everything. */
export function rootOn({ host, port }: MysqlServer): Promise<Connection> {
  return createConnection({ host, port, user: 'root', database: 'test' });
}

export type ClientName = 'mysql2' | 'mariadb';

export interface StoreOptions extends MysqlOptions {
  /** Default `mysql2`. */
  readonly client?: ClientName;
}

/** The names of the tables begin with the name of the bed. */
export class Bed extends SqlBed<StoreOptions, MysqlServer, ServerOptions> {
  protected readonly tables: readonly string[] = ['lock', 'news', 'kept'];

  store(at: Place, { client = 'mysql2', ...options }: StoreOptions = {}): Store {
    const known = { prefix: this.name, maxTtl: MAX_TTL_MS };
    return this.use(mysqlStore(this.clientOf(client, at), { ...known, ...options }));
  }

  urlOf(at: Place, maxTtlMs: number): string {
    return `${this.#loginAt(at)}?prefix=${this.name}&maxTtl=${maxTtlMs}ms`;
  }

  /** The store makes connections like it. */
  clientOf(name: ClientName, at: Place): MysqlClient {
    const url = this.#loginAt(at);
    if (name === 'mysql2') return createPool(url);
    const pool = mariadbPool(`${url.replace('mysql:', 'mariadb:')}?minimumIdle=0`);
    this.use({ close: () => pool.end() });
    return pool;
  }

  async block(server: MysqlServer, resource: string): Promise<{ close(): Promise<void> }> {
    const connection = await rootOn(server);
    // It may end with its server.
    connection.on('error', () => {});
    const other = this.use({ close: () => connection.end().catch(() => {}) });
    await connection.query('start transaction');
    await connection.query(
      `insert into ${this.name}lock (name, rev, last, until, crowd) values (?, 1, 0, 0, '')
        on duplicate key update rev = rev`,
      [resource],
    );
    return other;
  }

  sessions(server: MysqlServer): Promise<number[]> {
    return this.#idsWhere(server, 'true');
  }

  async blocked(server: MysqlServer): Promise<number[]> {
    // The server looks anew only if nobody has asked for a tenth of a second.
    await sleep(150);
    return this.#idsWhere(
      server,
      `(id in (select trx_mysql_thread_id from information_schema.innodb_trx
        where trx_state = 'LOCK WAIT') or state = 'User sleep')`,
    );
  }

  protected async prepare(server: MysqlServer): Promise<void> {
    await server.query(`create user ${this.name}@'%'; grant all on test.* to ${this.name}@'%'`);
    await migrateMysql(this.clientOf('mysql2', server), { prefix: this.name });
  }

  rows(server: MysqlServer, table: string): Promise<unknown[]> {
    return server.query(`select * from ${this.name}${table}`);
  }

  protected async sweep(server: MysqlServer): Promise<void> {
    const hour = '3600000000';
    await server.query(`update ${this.name}kept set until = until - ${hour};
      update ${this.name}news set at = at - ${hour}`);
    const tables = tablesOf(this.name);
    await server.query(raiseHighest(tables, [`-${hour}`]));
    await server.query(sweep(tables, ['', '500', `-${hour}`]));
  }

  protected endSession(server: MysqlServer, id: number): Promise<unknown> {
    // It may have ended by itself.
    return server.query(`kill ${id}`).catch(() => {});
  }

  async #idsWhere(server: MysqlServer, condition: string): Promise<number[]> {
    const rows = await server.query<{ id: number }>(
      `select id from information_schema.processlist where user = '${this.name}' and ${condition}`,
    );
    return rows.map(({ id }) => id);
  }

  #loginAt({ host, port }: Place): string {
    return `mysql://${this.name}@${host}:${port}/test`;
  }
}
