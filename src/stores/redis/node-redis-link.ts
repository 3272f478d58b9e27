/**
 * Connections of node-redis (the package `redis`), version 5 and 6.
 *
 * A duplicate has everything of the user's client (address, TLS, user, database, name) but what
 * would write a command late, twice or changed: see `connection.ts`. Commands in flight are
 * rejected by node-redis when the connection breaks; without its offline queue, those that it has
 * not written yet are as well. Its time-out for commands, which version 6 has by default, makes a
 * signal for each command and costs more than half of the throughput.
 */
import type { Source, Wire, WireTerms } from './connection.ts';

/** As much of a `createClient()` of node-redis as is used. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options?: object;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  on(event: string, listener: (first: unknown) => void): unknown;
}

interface NodeRedisOptions {
  readonly socket?: {
    readonly reconnectStrategy?:
      | number
      | false
      | ((failures: number, cause: unknown) => number | false | Error);
  };
}

const OVERRIDES = {
  disableOfflineQueue: true,
  commandsQueueMaxLength: undefined,
  commandOptions: { timeout: undefined, typeMapping: undefined },
  keyPrefix: undefined,
  readonly: false,
  clientSideCache: undefined,
  emitInvalidate: false,
  himportRegistry: undefined,
};

export function nodeRedisSource(client: NodeRedisClient): Source {
  const { socket } = (client.options ?? {}) as NodeRedisOptions;
  const strategy = socket?.reconnectStrategy ?? defaultPause;
  return {
    open: (terms) => {
      const abort = new AbortController();
      const own = { ...socket, reconnectStrategy: false, signal: abort.signal };
      return openWire(client.duplicate({ ...OVERRIDES, socket: own }), abort, terms);
    },
    pause: (failures, cause) => {
      const pause = typeof strategy === 'function' ? strategy(failures, cause) : strategy;
      return typeof pause === 'number' ? pause : Number.POSITIVE_INFINITY;
    },
  };
}

/** As node-redis has it. */
function defaultPause(failures: number): number {
  return 2 ** failures * 50 + Math.random() * 200;
}

async function openWire(
  client: NodeRedisClient,
  abort: AbortController,
  { signal, lost }: WireTerms,
): Promise<Wire> {
  const close = (): void => {
    // `destroy` does not reach a socket that is still connecting.
    abort.abort();
    // Version 5 throws for a client that is closed already.
    if (client.isOpen) client.destroy();
  };
  client.on('error', lost);
  signal.addEventListener('abort', close, { once: true });
  try {
    await client.connect();
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
  return {
    send: (command) => client.sendCommand(command),
    // Commands of one turn leave together anyway.
    together: (work) => work(),
    subscribe: (channel, received) => client.subscribe(channel, received),
    close,
  };
}
