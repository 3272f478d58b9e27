/**
 * Connections of `ioredis`, version 5 and 6, as sources; client.ts makes links of them.
 *
 * A duplicate has all settings of the user's client (address, Sentinels, TLS, user, database, name)
 * except those that would write a command late, twice or changed: see `kept-connection.ts`.
 */
import { first } from '../abortable.ts';
import type { WireTerms } from '../wire.ts';
import { type Discover, type PlaceMap, placeOf } from './cluster/topology.ts';
import { askOnce, pauseOf, REDIS, type RedisSource, type RedisWire } from './connection.ts';
import { questionOf } from './errors.ts';
import { Failovers } from './failovers.ts';

export interface IoredisClient {
  readonly isCluster: boolean;
  readonly status: string;
  readonly options: object;
  duplicate(options?: object): IoredisClient;
  connect(): Promise<unknown>;
  disconnect(): void;
  call(...command: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (first: unknown, second: unknown) => void): unknown;
  readonly stream: IoredisSocket | null | undefined;
}

interface IoredisSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  unref?(): unknown;
  destroy(): unknown;
}

interface IoredisOptions {
  readonly db?: number;
  readonly name?: string;
  readonly sentinels?: readonly { readonly host?: string; readonly port?: number }[] | null;
  readonly sentinelUsername?: string | null;
  readonly sentinelPassword?: string | null;
  readonly sentinelTLS?: object;
  readonly tls?: unknown;
  readonly retryStrategy?: ((times: number) => unknown) | null;
}

const OVERRIDES = {
  lazyConnect: true,
  // Version 5 would take commands before the server has accepted the password.
  enableReadyCheck: true,
  // Only a `KeptConnection` keeps commands, resends or reconnects.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  retryStrategy: null,
  reconnectOnError: null,
  maxRetriesPerRequest: null,
  // Keys are given in full, commands go one by one, replies come as in RESP2.
  keyPrefix: '',
  enableAutoPipelining: false,
  stringNumbers: false,
  replyMapping: 'legacy',
  readOnly: false,
  monitor: false,
  scripts: undefined,
  himportFieldsets: undefined,
  // Core and `KeptConnection` have their own.
  commandTimeout: undefined,
  socketTimeout: undefined,
};

/** A connection to a Sentinel itself, which has no databases. */
const SENTINEL_OVERRIDES = {
  sentinels: null,
  name: null,
  db: 0,
  path: undefined,
  enableReadyCheck: false,
};

export function ioredisSource(client: IoredisClient, overrides: object = {}): RedisSource {
  const { retryStrategy, db = 0, tls } = client.options as IoredisOptions;
  const options = { ...OVERRIDES, ...overrides };
  return {
    ...REDIS,
    database: String(db),
    place: { ...client.options, ...overrides },
    question: questionOf(Boolean(tls)),
    open: (terms) => openWire(client.duplicate(options), terms),
    pause: (failures) => pauseOf(retryStrategy?.(failures)),
  };
}

/** For a client that asks Sentinels, connections to the primary; for another one, as above. */
export function ioredisServerSource(client: IoredisClient): RedisSource {
  const source = ioredisSource(client);
  const { sentinels, name = '', ...options } = client.options as IoredisOptions;
  if (!sentinels) return source;
  const { sentinelUsername = null, sentinelPassword = null, sentinelTLS } = options;
  const login = { username: sentinelUsername, password: sentinelPassword, tls: sentinelTLS };
  const sources = sentinels.map(({ host = '127.0.0.1', port = 26_379 }) =>
    ioredisSource(client, { ...SENTINEL_OVERRIDES, ...login, host, port }),
  );
  const failovers = new Failovers(name, sources);
  return {
    ...source,
    question: questionOf(),
    failovers: (switched) => failovers.watch(switched),
    open: async (terms) => {
      // Of a fail-over after the answer of a Sentinel, the store hears.
      await failovers.ready;
      const wire = await source.open(terms);
      if (!failovers.isFormer(wire.address ?? '')) return wire;
      wire.close();
      throw new Error('Not all Sentinels know the new primary yet');
    },
  };
}

async function openWire(redis: IoredisClient, terms: WireTerms): Promise<RedisWire> {
  const { signal, lost, received } = terms;
  let cause: unknown;
  const close = (): void => {
    redis.disconnect();
    redis.stream?.destroy();
  };
  redis.on('error', (error) => {
    cause ??= error;
    lost(error);
  });
  for (const event of ['message', 'smessage']) {
    redis.on(event, (channel, message) => received(String(message), String(channel)));
  }
  redis.on('end', () => lost(cause ?? new Error('Connection is closed.')));
  await first({ end: close }, signal, () => redis.connect()).catch((error: unknown) => {
    throw cause ?? error;
  });
  return {
    send: (command) => redis.call(...command),
    listen: (channel) => redis.subscribe(channel),
    unlisten: (channel) => redis.unsubscribe(channel),
    sharded: {
      listen: (channel) => redis.ssubscribe(channel),
      unlisten: (channel) => redis.sunsubscribe(channel),
    },
    ping: () => redis.call('PING'),
    unref: () => void redis.stream?.unref?.(),
    close,
    address: `${redis.stream?.remoteAddress?.replace(/^::ffff:/, '')}:${redis.stream?.remotePort}`,
  };
}

export interface IoredisCluster
  extends Pick<IoredisClient, 'isCluster' | 'status' | 'options' | 'connect' | 'disconnect'> {
  readonly slots: string[][];
  duplicate(nodes?: [], options?: object): IoredisCluster;
  nodes(role?: 'all' | 'master'): IoredisClient[];
  on(event: string, listener: (first: unknown) => void): unknown;
}

const CLUSTER_OVERRIDES = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  enableAutoPipelining: false,
  clusterRetryStrategy: () => null,
  slotsRefreshInterval: undefined,
  shardedSubscribers: false,
  scaleReads: 'master',
  scripts: undefined,
  himportFieldsets: undefined,
};

export function ioredisDiscover(client: IoredisCluster): Discover {
  const { natMap } = client.options as { readonly natMap?: PlaceMap | null };
  return (signal) =>
    askOnce(client.duplicate([], CLUSTER_OVERRIDES), signal, {
      ask: async (cluster) => {
        const [node] = cluster.nodes('master');
        if (!node) throw new Error('None of startup nodes is available');
        return {
          slots: cluster.slots.map(([primary]) => primary),
          at: (address: string) => ioredisSource(node, placeOf(address, natMap)),
        };
      },
      end: (cluster) => cluster.disconnect(),
    });
}
