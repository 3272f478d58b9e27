/**
 * Connections of `postgres` (postgres.js), version 3.
 *
 * An instance does not show the function that made it, so this file loads the package again. Each
 * connection is an instance of its own, made with the parsed options of the user's; it makes no
 * second connection, because the store asks nothing of it once the first is lost. This file makes
 * the socket, because the package's own could not be closed on a network that does not reply.
 * An unprepared statement with values would take two round trips, one to ask for their types. So a
 * statement without a name has no values, and goes as a simple query.
 */
import { once } from 'node:events';
import { connect as dial, type Socket } from 'node:net';
import { Answer } from '../../base/answer.ts';
import { permanentFailure } from '../../contract/errors.ts';
import { first } from '../abortable.ts';
import { hangUp, type TextRow } from '../sql/session.ts';
import type { ConnectPostgres, PostgresSession, PostgresStatement } from './connection.ts';

export interface PostgresJs {
  readonly options: object;
  readonly parameters: object;
  unsafe(text: string): PromiseLike<unknown>;
  reserve(): PromiseLike<unknown>;
  end(): Promise<unknown>;
}

interface Options {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false | undefined;
  readonly connection?: object;
  readonly socket?: ((options: object) => unknown) | undefined;
}

interface Result extends ReadonlyArray<TextRow> {
  readonly state?: { readonly pid: number | null };
}

interface Instance {
  unsafe(
    text: string,
    values: readonly string[],
    options: object,
  ): { values(): PromiseLike<Result | readonly Result[]> };
  end(options: { readonly timeout: number }): Promise<unknown>;
}

type NewInstance = (options: object) => Instance;

const OWN = {
  max: 1,
  idle_timeout: null,
  max_lifetime: null,
  // The session has a time-out of its own for connecting.
  connect_timeout: 0,
  keep_alive: 10,
  backoff: 0,
  fetch_types: false,
  prepare: true,
  // The store itself checks for a primary when the connection is open.
  target_session_attrs: null,
  no_subscribe: true,
  debug: false,
  onnotice: () => {},
  onparameter: undefined,
  types: {},
};

export function postgresJsConnect({ options }: PostgresJs): ConnectPostgres {
  const given = options as Options;
  let attempts = 0;
  return async ({ signal, lost, received }) => {
    const postgres = await load();
    // Another host each time: one may be gone, or a standby.
    const nth = attempts++ % Math.max(1, given.host.length);
    const place = { host: given.host[nth], port: given.port[nth], path: given.path };
    const socket = socketOf(place, given.socket, signal);
    const instance = postgres({
      ...given,
      ...OWN,
      // The package changes these as it goes, so they must not be those of the user's instance.
      parsers: {},
      serializers: {},
      parameters: {},
      shared: { retries: 0, typeArrayMap: {} },
      transform: { undefined: undefined, column: {}, value: {}, row: {} },
      host: [place.host],
      port: [place.port],
      socket: socket.open,
      connection: { ...given.connection, application_name: 'holdfast' },
      onclose: () => lost(new Error('Connection terminated')),
      onnotify: (_: string, message: string) => received(message),
    });
    return connectionOf(instance, socket);
  };
}

/** The instance connects with its first statement. */
function connectionOf(instance: Instance, socket: ReturnType<typeof socketOf>): PostgresSession {
  let pid: number | undefined;
  return {
    query(statement) {
      return ask(instance, statement).map((result) => {
        pid ??= result.state?.pid ?? undefined;
        return result;
      });
    },
    get pid() {
      return pid;
    },
    unref: () => socket.unref(),
    end() {
      instance.end({ timeout: 0 }).catch(() => {});
      socket.close();
    },
  };
}

function ask(instance: Instance, { text, values = [], name }: PostgresStatement): Answer<Result> {
  const options = name === undefined ? { simple: true } : { prepare: true };
  return Answer.from(instance.unsafe(text, values, options).values()).map((result) => {
    if ('command' in result) return result as Result;
    const results = result as readonly Result[];
    return (results.findLast((rows) => rows.length > 0) ?? results.at(-1)) as Result;
  });
}

interface PostgresJsHost {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly path?: string | false | undefined;
}

function socketOf(place: PostgresJsHost, make: Options['socket'], signal: AbortSignal) {
  let opened: Socket | undefined;
  let closed = false;
  return {
    async open(options: object): Promise<Socket> {
      // The package would connect anew where it should give up.
      if (opened || closed) throw new Error('Connection terminated');
      opened = make ? ((await make(options)) as Socket) : await dialled(place, signal);
      if (closed) opened.destroy();
      return opened;
    },
    // That of the user's own function may be any stream.
    unref: () => void opened?.unref?.(),
    close() {
      closed = true;
      if (opened) hangUp(opened);
    },
  };
}

async function dialled({ host, port, path }: PostgresJsHost, signal: AbortSignal): Promise<Socket> {
  const socket = dial({ ...(path ? { path } : { host, port: Number(port) }), noDelay: true });
  const end = (): void => void socket.destroy();
  await first({ end }, signal, () => once(socket, 'connect'));
  // The package takes this name for the one that a certificate must be for.
  return Object.assign(socket, { host });
}

async function load(): Promise<NewInstance> {
  try {
    // Users of `pg` make bundles where this package is missing.
    const { default: postgres } = await import(/* webpackIgnore: true */ 'postgres');
    return postgres as unknown as NewInstance;
  } catch (cause) {
    const message = 'The package postgres cannot be loaded, although a client of it is used.';
    throw permanentFailure(message, cause);
  }
}
