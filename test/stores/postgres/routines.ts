/** The routines of the schema in a session of their own. */
import pg from 'pg';
import schema from '../../../src/stores/postgres/schema.sql';
import {
  Caller as AnyCaller,
  type Asked,
  SETTINGS,
  type Settings,
} from '../../methods/faults/sql-calls.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';

export { asked, numberOf, refusal, type Settings } from '../../methods/faults/sql-calls.ts';

/** As an operator does. */
export async function install(server: PostgresServer): Promise<void> {
  await server.query(schema);
}

/** It ends with its server at the latest. */
export class Caller extends AnyCaller {
  readonly client: pg.Client;

  static async open({ host, port }: PostgresServer): Promise<Caller> {
    const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres' });
    client.on('error', () => {});
    await client.connect();
    return new Caller(client);
  }

  private constructor(client: pg.Client) {
    super();
    this.client = client;
  }

  /** As a program that has nothing else to release. */
  async releaseOne({ resource, id, ttl }: Asked): Promise<string | undefined> {
    const { patience, maxTtl, fast } = SETTINGS;
    const settings = [JSON.stringify(SETTINGS), String(patience), String(maxTtl), String(fast)];
    const [line] = await this.call('release_one', [...settings, resource, id, String(ttl)]);
    return line;
  }

  async keep(
    { resource, id }: Asked,
    { text, ms, ...settings }: { text: string; ms: number } & Partial<Settings>,
  ): Promise<string | undefined> {
    const all = JSON.stringify({ ...SETTINGS, ...settings });
    const [line] = await this.call('keep', [all, resource, id, text, String(ms)]);
    return line;
  }

  sweep(): Promise<pg.QueryResult> {
    return this.client.query('select holdfast.sweep()');
  }

  close(): Promise<void> {
    return this.client.end();
  }

  protected async call(routine: string, args: readonly string[]): Promise<string[]> {
    const values = args.map((_, n) => `$${n + 1}`).join();
    const text = `select line from holdfast.${routine}(${values}) as line`;
    const { rows } = await this.client.query<{ line: string }>(text, [...args]);
    return rows.map(({ line }) => line);
  }
}
