/** The routines of the schema, called as a program of somebody else's would. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import schema from '../../src/stores/postgres/schema.sql';
import type { PostgresServer } from '../servers/postgres-server.ts';

export interface Settings {
  readonly maxTtl: number;
  readonly maxWaiters: number;
  readonly trust: boolean;
  readonly fast: boolean;
  readonly patience: number;
  readonly wake: string;
}

const SETTINGS: Settings = {
  ...{ maxTtl: 30_000, maxWaiters: 100, trust: false, fast: false, patience: 5000 },
  wake: 'holdfast_',
};

export interface Asked {
  readonly resource: string;
  readonly id: string;
  readonly ttl: number;
  readonly queue: boolean;
}

export function asked(resource: string, over: Partial<Asked> = {}): Asked {
  const id = randomBytes(16).toString('hex');
  return { resource, id, ttl: 30_000, queue: true, ...over };
}

/** As an operator does. */
export async function install(server: PostgresServer): Promise<void> {
  await server.query(schema);
}

/** One session; it ends with its server at the latest. */
export class Caller {
  readonly client: pg.Client;

  static async open({ host, port }: PostgresServer): Promise<Caller> {
    const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres' });
    client.on('error', () => {});
    await client.connect();
    return new Caller(client);
  }

  private constructor(client: pg.Client) {
    this.client = client;
  }

  claim(claims: readonly Asked[], settings: Partial<Settings> = {}): Promise<string[]> {
    const terms = { kind: 'm', permits: 1, limit: 1, address: '-', tag: '-', holder: '{}' };
    return this.#call('claim', [
      { ...SETTINGS, ...settings },
      claims.map((each) => ({ ...terms, ...each })),
    ]);
  }

  renew(claims: readonly Asked[], settings: Partial<Settings> = {}): Promise<string[]> {
    return this.#call('renew', [{ ...SETTINGS, ...settings }, claims]);
  }

  release(claims: readonly Asked[], settings: Partial<Settings> = {}): Promise<string[]> {
    const terms = { unanswered: false, after: 0 };
    return this.#call('release', [
      { ...SETTINGS, ...settings },
      claims.map((each) => ({ ...terms, ...each })),
    ]);
  }

  async sweep(): Promise<void> {
    await this.client.query('select holdfast.sweep()');
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  async #call(routine: string, args: readonly object[]): Promise<string[]> {
    const text = `select line from holdfast.${routine}($1, $2) as line`;
    const { rows } = await this.client.query<{ line: string }>(
      text,
      args.map((each) => JSON.stringify(each)),
    );
    return rows.map(({ line }) => line);
  }
}

/** The code with which PostgreSQL refuses it. */
export async function refusal(asking: Promise<unknown>): Promise<unknown> {
  return asking.then(
    () => 'nothing',
    (error: { code?: string }) => error.code,
  );
}

export function numberOf(line: string | undefined): bigint {
  const [state, number = ''] = line?.split(' ') ?? [];
  if (state !== 'h') throw new Error(`not held: ${line}`);
  return BigInt(number);
}
