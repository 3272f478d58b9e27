/**
 * Connections of `pg`, version 8.
 *
 * Each is a client made like those of the pool: the same address, TLS, user and password, also
 * where that is a function, but without settings that would end it while idle, or settle a
 * statement before the server does. A connection string wins over other options, so those are set
 * on what the package made of all of them.
 */
import { first } from '../abortable.ts';
import { asked, hangUp, type TextRow } from '../sql/session.ts';
import type { ConnectPostgres, PostgresSession, PostgresStatement } from './connection.ts';

export interface PgPoolClient {
  readonly options: object;
  readonly totalCount: number;
  readonly ended: boolean;
  connect(): Promise<unknown>;
}

export interface PgClient {
  readonly connection: object;
  readonly host: string;
  connect(): Promise<unknown>;
  getTransactionStatus?(): string | null;
}

type PgConfig = Readonly<Record<string, unknown>>;

interface Result {
  readonly rows: readonly TextRow[];
}

type Results = Result | readonly Result[];

interface PgSession {
  readonly connectionParameters: Record<string, unknown>;
  readonly connection: { readonly stream: { destroy(): unknown } };
  readonly processID: number | null;
  binary: boolean;
  connect(): Promise<unknown>;
  query(query: object, done: (error: unknown, results: Results) => void): unknown;
  on(event: string, listener: (said: unknown) => void): unknown;
  unref(): void;
  end(): Promise<unknown>;
}

const OWN = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  // The session has a time-out of its own for connecting.
  connectionTimeoutMillis: 0,
  pipeline: false,
};

const OWN_PARAMETERS = {
  application_name: 'holdfast',
  // With the first two, a statement could fail here and still take effect on the server.
  query_timeout: 0,
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
};

/** All values as the server writes them, whatever parsers the program has registered. */
const AS_TEXT = {
  getTypeParser:
    () =>
    (text: string): string =>
      text,
};

export function pgConnect(client: PgPoolClient | PgClient): ConnectPostgres {
  const config = configOf(client);
  const { Client = client.constructor } = client as { readonly Client?: unknown };
  return async ({ signal, lost, received }) => {
    const session = new (Client as new (config: object) => PgSession)(config);
    Object.assign(session.connectionParameters, OWN_PARAMETERS);
    session.binary = false;
    session.on('error', lost);
    session.on('end', () => lost(new Error('Connection terminated')));
    session.on('notification', (said) => received((said as { payload?: string }).payload ?? ''));
    const end = (): void => void session.connection.stream.destroy();
    await first({ end }, signal, () => session.connect());
    return connectionOf(session);
  };
}

function connectionOf(session: PgSession): PostgresSession {
  return {
    query({ text, values = [], name }: PostgresStatement) {
      const query = { text, values: [...values], name, rowMode: 'array', types: AS_TEXT };
      return asked<Results>((done) => session.query(query, done)).map(rowsOf);
    },
    get pid() {
      return session.processID ?? undefined;
    },
    unref: () => session.unref(),
    end() {
      session.end().catch(() => {});
      hangUp(session.connection.stream);
    },
  };
}

function rowsOf(given: Results): readonly TextRow[] {
  const results: readonly Result[] = 'rows' in given ? [given] : given;
  return results.findLast(({ rows }) => rows.length > 0)?.rows ?? [];
}

/** A copy of a pool's options lacks the password, which the pool hides. */
function configOf(client: PgPoolClient | PgClient): PgConfig {
  const place = 'options' in client ? 'options' : 'connectionParameters';
  const given = Reflect.get(client, place) as PgConfig;
  const { password } = given;
  return { ...given, ...(password !== undefined && { password }), ...OWN };
}
