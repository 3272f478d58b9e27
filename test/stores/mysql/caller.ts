/** Programs that ask a store, its sessions, and its sweep; on a clock that can be stepped. */
import { migrateMysql, mysqlStore } from 'holdfast/mysql';
import { createPool } from 'mysql2';
import { afterAll } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { connectLike } from '../../../src/clients/mysql/client.ts';
import type { ConnectMysql, MysqlSession } from '../../../src/clients/mysql/connection.ts';
import type { Store } from '../../../src/contract/store.ts';
import { sourceOf } from '../../../src/stores/mysql/source.ts';
import { linkOf, type SqlWire } from '../../../src/stores/sql/link.ts';
import { SqlRowStore } from '../../../src/stores/sql/row-store.ts';
import { Sweeper } from '../../../src/stores/sql/sweeper.ts';
import { Table } from '../../../src/stores/sql/table.ts';
import { Caller, type Settings } from '../../methods/faults/sql-calls.ts';
import type { MysqlLogin, MysqlServer } from '../../servers/mysql-server.ts';

export { asked, type Caller, numberOf, type Settings } from '../../methods/faults/sql-calls.ts';

const PREFIX = 'holdfast_';

export interface WorldOptions extends MysqlLogin {
  /** How many times slower than the server's its clock runs, from now on; default: 1. */
  readonly slower?: number;
}

/** The tables in a database, as programs find them. */
export class World {
  readonly #connect: ConnectMysql;
  readonly #client: ReturnType<typeof createPool>;
  readonly #ends: (() => Promise<void> | undefined)[] = [];
  readonly #slower: number;
  readonly #since = new Date().toISOString().slice(0, -1).replace('T', ' ');
  #stepped = 0;

  constructor(server: MysqlServer, { slower = 1, ...login }: WorldOptions = {}) {
    this.#slower = slower;
    this.#client = createPool(server.urlOf(login).replace('mariadb:', 'mysql:'));
    const connect = connectLike(this.#client);
    this.#connect = async (terms) => {
      const connection = await connect(terms);
      return {
        ...connection,
        query: (text) => connection.query(this.#at(text)),
        execute: (text, values) => connection.execute(this.#at(text), values),
      };
    };
  }

  /** As an operator does. */
  async migrated(): Promise<this> {
    await migrateMysql(this.#client);
    return this;
  }

  /** For all statements that are sent from now on. */
  step(ms: number): void {
    this.#stepped += ms * 1000;
  }

  #at(text: string): string {
    if (this.#stepped === 0 && this.#slower === 1) return text;
    const passed = `TIMESTAMPDIFF(MICROSECOND, '${this.#since}', $&) DIV ${this.#slower}`;
    const now = `(TIMESTAMP'${this.#since}' + INTERVAL ${passed} + ${this.#stepped} MICROSECOND)`;
    return text.replaceAll(/SYSDATE\(6\)|UTC_TIMESTAMP\(6\)/g, now);
  }

  #table(maxTtlMs: number): Table {
    const link = linkOf(sourceOf(this.#connect, { prefix: PREFIX, maxTtlMs }));
    return new Table({ link, maxTtlMs, fast: false, listOf: JSON.stringify });
  }

  store({ maxTtl: maxTtlMs, trust, maxWaiters = 100 }: Settings & { maxWaiters?: number }): Store {
    const { name, lineage = '' } = mysqlStore(this.#client);
    const parts = { name, lineage, maxTtlMs, maxWaiters, trust };
    const store = new SqlRowStore({ ...parts, table: this.#table(maxTtlMs), clock: systemClock() });
    this.#ends.push(() => store.close());
    return store;
  }

  caller(): Caller {
    return new Caller((settings) => this.store(settings));
  }

  /** What a store asks of one of its sessions, and that session itself. */
  async session(): Promise<{ readonly wire: SqlWire; readonly connection: MysqlSession }> {
    let connection: MysqlSession | undefined;
    const connect: ConnectMysql = async (terms) => {
      connection = await this.#connect(terms);
      return connection;
    };
    const { signal } = new AbortController();
    const source = sourceOf(connect, { prefix: PREFIX, maxTtlMs: 30_000 });
    const wire = await source.open({ signal, lost: () => {}, received: () => {} });
    this.#ends.push(async () => wire.close());
    return { wire, connection: connection as unknown as MysqlSession };
  }

  /** One round, as programs make it now and then. */
  async sweep(idleMs?: number): Promise<void> {
    const table = this.#table(30_000);
    await new Sweeper(systemClock(), table).sweep(idleMs);
    await table.link.close();
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    this.#client.end();
  }
}

/** For all tests of a group, after which it closes, and the server as well. */
export async function worldOf(server: MysqlServer, options?: WorldOptions): Promise<World> {
  const world = await new World(server, options).migrated();
  afterAll(async () => {
    await world.close();
    await server.close();
  });
  return world;
}
