/** The procedures of the schema in a session of their own, with a clock that can be stepped. */
import { mysqlMigration } from 'holdfast/mysql';
import { type Connection, createConnection } from 'mysql2/promise';
import { connectLike } from '../../../src/stores/mysql/client.ts';
import { sourceOf } from '../../../src/stores/mysql/source.ts';
import type { Wire } from '../../../src/stores/sql/wire.ts';
import { sleep } from '../../methods/faults/bed.ts';
import {
  Caller as AnyCaller,
  type Asked,
  SETTINGS,
  type Verb,
} from '../../methods/faults/sql-calls.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';

/**
 * As an operator does, but for the clock: it says the time `from`, in SQL, and what `step` adds.
 */
export async function install(server: MysqlServer, from = 'UTC_TIMESTAMP(6)'): Promise<void> {
  await server.query('create table step (us bigint) engine = memory; insert into step values (0)');
  const now = clockFrom(from);
  const text = mysqlMigration().replaceAll('UTC_TIMESTAMP(6)', now);
  // The mode of a session is that of the procedures it makes.
  const { host, port } = server;
  const connection = await createConnection({ host, port, user: 'root', database: 'test' });
  for (const statement of statementsIn(text)) await connection.query(statement);
  await connection.end();
}

function clockFrom(from: string): string {
  return `(${from} + INTERVAL (SELECT us FROM step) MICROSECOND)`;
}

/** From now on, a session with `@gate` stands still for the named lock `gate` at its next look. */
export async function putGateBeforeClock(server: MysqlServer): Promise<void> {
  await server.query(`drop procedure holdfast_micros;
    create procedure holdfast_micros(out _now bigint) begin
      if @gate then do get_lock('gate', 20), release_lock('gate'); set @gate = null; end if;
      set _now = timestampdiff(microsecond, '1970-01-01', ${clockFrom('UTC_TIMESTAMP(6)')});
    end`);
}

export async function waitsAtGate(server: MysqlServer): Promise<boolean> {
  const waiting = "select 1 from information_schema.processlist where state = 'User lock'";
  return (await server.query(waiting)).length > 0;
}

/** Whoever waits for a lock meanwhile sees it, too. */
export async function step(server: MysqlServer, ms: number): Promise<void> {
  await server.query(`update step set us = us + ${ms * 1000}`);
}

/** Somebody waits for the lock of a row. */
export async function waitsForRow(server: MysqlServer): Promise<boolean> {
  // The server looks anew only if nobody has asked for a tenth of a second.
  await sleep(150);
  const waiting = "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
  return (await server.query(waiting)).length > 0;
}

/** The statements of a text for the program `mysql`, one by one. */
function statementsIn(text: string): string[] {
  return text
    .replace(/^(DELIMITER .*|--.*)$/gm, '')
    .split(/ *\/\/$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

export interface OpenOptions {
  /** As a store calls them: a claim that comes alone is no JSON then. */
  readonly asStore?: boolean;
  readonly database?: string;
}

/** It ends with its server at the latest. */
export class Caller extends AnyCaller {
  readonly connection: Connection;
  readonly #wire: Wire | undefined;

  static async open(
    { host, port }: MysqlServer,
    { asStore = false, database = 'test' }: OpenOptions = {},
  ): Promise<Caller> {
    const at = { host, port, user: 'root', database };
    const connection = await createConnection(at);
    connection.on('error', () => {});
    const source = sourceOf(connectLike(connection), 'holdfast_');
    const { signal } = new AbortController();
    const terms = { signal, lost: () => {}, heard: () => {} };
    return new Caller(connection, asStore ? await source.open(terms) : undefined);
  }

  private constructor(connection: Connection, wire: Wire | undefined) {
    super();
    this.connection = connection;
    this.#wire = wire;
  }

  async keep(
    { resource, id }: Asked,
    { text, ms }: { readonly text: string; readonly ms: number },
  ): Promise<unknown> {
    const sql = 'call holdfast_keep(?, ?, ?, ?, ?)';
    const args = [JSON.stringify(SETTINGS), resource, id, text, ms];
    const [results] = await this.connection.query({ sql, rowsAsArray: true }, args);
    return (results as unknown as readonly [readonly [readonly [unknown]]])[0][0][0];
  }

  /** Whether there is more. */
  async sweep(): Promise<boolean> {
    const [results] = await this.connection.query('call holdfast_sweep()');
    const [rows] = results as unknown as readonly [readonly unknown[]];
    return rows.length > 0;
  }

  async close(): Promise<void> {
    this.#wire?.close();
    this.connection.destroy();
  }

  protected async call(routine: Verb, args: readonly string[]): Promise<string[]> {
    if (this.#wire) return [...(await this.#wire.call(routine, args))];
    const sql = `call holdfast_${routine}(?, ?)`;
    const [results] = await this.connection.query({ sql, rowsAsArray: true }, [...args]);
    const [[[answers, busy]]] = results as unknown as readonly [
      readonly [readonly [unknown, string | null]],
    ];
    const lines = typeof answers === 'string' ? JSON.parse(answers) : answers;
    const places = busy?.split(' ').map((place) => `b ${place}`) ?? [];
    return [...places, ...Object.values((lines ?? {}) as object).map(String)];
  }
}
