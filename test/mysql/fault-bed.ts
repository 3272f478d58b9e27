/** MySQL and MariaDB as the fault tests of all stores see them. */
import type { Store } from 'holdfast';
import { type MysqlClient, type MysqlOptions, migrateMysql, mysqlStore } from 'holdfast/mysql';
import { createPool as mariadbPool } from 'mariadb';
import { createPool } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { expect } from 'vitest';
import { MAX_TTL_MS, type Place, sleep } from '../faults/bed.ts';
import { SqlBed } from '../faults/sql-bed.ts';
import { startMariadb } from '../servers/mariadb-server.ts';
import type { MysqlServer, MysqlOptions as ServerOptions } from '../servers/mysql-server.ts';
import { until } from '../servers/until.ts';

export type ClientName = 'mysql2' | 'mariadb';

export interface StoreOptions extends MysqlOptions {
  /** Default `mysql2`. */
  readonly client?: ClientName;
}

let beds = 0;

export class Bed extends SqlBed<StoreOptions, MysqlServer> {
  /** How the names of the tables begin, and the user that stores connect as. */
  readonly name: string = `bed_${++beds}_`;
  readonly #shared: MysqlServer | undefined;

  /** A server that several use at a time must not suffer. Default: each time another one. */
  constructor(shared?: MysqlServer) {
    super();
    this.#shared = shared;
  }

  async server(options?: ServerOptions): Promise<MysqlServer> {
    const server = this.#shared ?? this.serve(await startMariadb(options));
    await server.query(`create user ${this.name}@'%'; grant all on test.* to ${this.name}@'%'`);
    await migrateMysql(this.clientOf('mysql2', server), { prefix: this.name });
    return server;
  }

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

  async endSessions(server: MysqlServer): Promise<void> {
    for (const id of await this.sessions(server)) {
      // It may have ended by itself.
      await server.query(`kill ${id}`).catch(() => {});
    }
  }

  async block(server: MysqlServer, resource: string): Promise<{ close(): Promise<void> }> {
    const { host, port } = server;
    const connection = await createConnection({ host, port, user: 'root', database: 'test' });
    // It may end with its server.
    connection.on('error', () => {});
    const other = this.use({ close: () => connection.end().catch(() => {}) });
    await connection.query('start transaction');
    await connection.query(
      `insert into ${this.name}resource (name, kind, number) values (?, 'm', 0)
        on duplicate key update done_by = 0`,
      [resource],
    );
    return other;
  }

  /** Connection numbers of the sessions of stores. */
  sessions(server: MysqlServer): Promise<number[]> {
    return this.#idsWhere(server, 'true');
  }

  async blocked(server: MysqlServer): Promise<number[]> {
    // The server looks anew only if nobody has asked for a tenth of a second.
    await sleep(150);
    return this.#idsWhere(
      server,
      `id in (select trx_mysql_thread_id from information_schema.innodb_trx
        where trx_state = 'LOCK WAIT')`,
    );
  }

  /** No sessions, no claims; and what is kept for a while is swept when it is over. */
  async expectNothingLeft(server: MysqlServer): Promise<void> {
    // The server hears of a closed connection a moment later.
    await until('were all sessions over', async () => (await this.sessions(server)).length === 0);
    // Whom a release did not reach in time passes by itself.
    await until('were all claims over', async () => {
      const [names] = await server.query(`call ${this.name}names('', 100)`);
      return Array.isArray(names) && names.length === 0;
    });
    // As if an hour had passed since.
    const hour = 3_600_000_000;
    await server.query(`update ${this.name}resource set number = number - ${hour},
      expires = expires - ${hour}, graves = graves - ${hour};
      update ${this.name}claim set expires = expires - ${hour};
      update ${this.name}grave set until = until - ${hour}`);
    // The first one remembers the numbers, the second forgets.
    for (const _ of [1, 2]) await server.query(`call ${this.name}sweep()`);
    for (const table of ['resource', 'claim', 'grave']) {
      expect(await server.query(`select * from ${this.name}${table}`), table).toEqual([]);
    }
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
