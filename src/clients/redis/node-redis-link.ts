/**
 * Connections of node-redis (the package `redis`), version 5 and 6, as sources: duplicates of the
 * user's client, as those of ioredis-link.ts are. When the connection breaks, node-redis rejects
 * the commands in flight; without its offline queue, also those that it has not written yet. Its
 * time-out for commands, which version 6 has by default, makes a signal for each command and costs
 * more than half of the throughput.
 */
import { abortable, first } from '../abortable.ts';
import type { WireTerms } from '../wire.ts';
import { type Discover, type PlaceMap, placeOf, type RedisAddress } from './cluster/topology.ts';
import { askOnce, pauseOf, REDIS, type RedisSource, type RedisWire } from './connection.ts';
import { questionOf } from './errors.ts';

type OnMessage = (message: string, channel: string) => void;

export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly options?: object;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  unref(): void;
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: OnMessage): Promise<unknown>;
  unsubscribe(channel: string, listener: OnMessage): Promise<unknown>;
  sSubscribe(channel: string, listener: OnMessage): Promise<unknown>;
  sUnsubscribe(channel: string, listener: OnMessage): Promise<unknown>;
  on(event: string, listener: (first: unknown) => void): unknown;
}

interface NodeRedisOptions {
  readonly database?: number;
  readonly socket?: {
    readonly tls?: boolean;
    readonly reconnectStrategy?:
      | number
      | false
      | ((failures: number, cause: unknown) => number | false | Error);
  };
}

/** The type mark of a double in RESP3, which is a text in RESP2. */
const DOUBLE = ','.charCodeAt(0);

const OVERRIDES = {
  disableOfflineQueue: true,
  commandsQueueMaxLength: undefined,
  commandOptions: { timeout: undefined, typeMapping: { [DOUBLE]: String } },
  keyPrefix: undefined,
  readonly: false,
  clientSideCache: undefined,
  emitInvalidate: false,
  himportRegistry: undefined,
  // Its timer would keep the process alive, and `KeptConnection` has its own.
  pingInterval: undefined,
};

export function nodeRedisSource(
  client: NodeRedisClient,
  place: Partial<RedisAddress> = {},
): RedisSource {
  const { socket, database = 0 } = (client.options ?? {}) as NodeRedisOptions;
  const strategy = socket?.reconnectStrategy;
  return {
    ...REDIS,
    database: String(database),
    place: { host: 'localhost', ...socket, ...place, database },
    question: questionOf(socket?.tls === true),
    open: (terms) => {
      const abort = new AbortController();
      const own = { ...socket, ...place, reconnectStrategy: false, signal: abort.signal };
      return openWire(client.duplicate({ ...OVERRIDES, socket: own }), abort, terms);
    },
    ...(strategy !== undefined && {
      pause: (failures, cause) =>
        pauseOf(typeof strategy === 'function' ? strategy(failures, cause) : strategy),
    }),
  };
}

async function openWire(
  client: NodeRedisClient,
  abort: AbortController,
  { signal, lost, received }: WireTerms,
): Promise<RedisWire> {
  const close = (): void => {
    // `destroy` does not reach a socket that is still connecting.
    abort.abort();
    // Version 5 throws for a client that is closed already.
    if (client.isOpen) client.destroy();
  };
  client.on('error', lost);
  await first({ end: close }, signal, () => client.connect());
  return {
    send: (command) => client.sendCommand(command),
    listen: (channel) => client.subscribe(channel, received),
    unlisten: (channel) => client.unsubscribe(channel, received),
    sharded: {
      listen: (channel) => client.sSubscribe(channel, received),
      unlisten: (channel) => client.sUnsubscribe(channel, received),
    },
    ping: () => client.sendCommand(['PING']),
    unref: () => client.unref(),
    close,
  };
}

export interface NodeRedisSentinel {
  readonly isOpen: boolean;
  /** Version 5 has none. */
  duplicate?(overrides?: object): NodeRedisSentinel;
  connect(): Promise<unknown>;
  destroy(): Promise<unknown>;
  getSentinelNode(): unknown;
  _execute<T>(readonly: boolean, work: (client: NodeRedisClient) => Promise<T>): Promise<T>;
  on(event: string, listener: (first: unknown) => void): unknown;
  off(event: string, listener: (first: unknown) => void): unknown;
}

/** One try, as `KeptConnection` makes its own; one connection, and none to replicas. */
const SENTINEL_OVERRIDES = {
  maxCommandRediscovers: 0,
  scanInterval: 0,
  masterPoolSize: 1,
  replicaPoolSize: 0,
  reserveClient: false,
  clientSideCache: undefined,
};

/**
 * The Sentinel client of node-redis writes a command again when the connection broke. So the store
 * only asks it for the primary, and opens a plain connection there itself. Version 5 has no
 * duplicate: there the store asks the user's own client, which has to be connected.
 */
export function nodeRedisSentinelSource(client: NodeRedisSentinel): RedisSource {
  return {
    ...REDIS,
    // It keeps to itself where its Sentinels are; but the user's own, once connected, tells.
    failovers: (switched) => {
      const onChange = (event: unknown): void => {
        if ((event as { readonly type?: unknown }).type === 'MASTER_CHANGE') switched();
      };
      client.on('topology-change', onChange);
      return () => client.off('topology-change', onChange);
    },
    open: async (terms) => {
      const ask = (sentinel: NodeRedisSentinel) => primaryOf(sentinel, terms.signal);
      const end = (sentinel: NodeRedisSentinel): void => void sentinel.destroy().catch(() => {});
      const primary = await (client.duplicate
        ? askOnce(client.duplicate(SENTINEL_OVERRIDES), terms.signal, { ask, end })
        : ask(client));
      return nodeRedisSource(primary).open(terms);
    },
  };
}

async function primaryOf(client: NodeRedisSentinel, signal: AbortSignal): Promise<NodeRedisClient> {
  if (!client.isOpen) throw new Error('The Sentinel client is not connected');
  const asked = client._execute(false, async (primary) => primary);
  return abortable(signal, asked);
}

export interface NodeRedisCluster {
  readonly isOpen: boolean;
  readonly slots: readonly { readonly master: { readonly address: string } }[];
  readonly masters: readonly NodeRedisNode[];
  readonly _options: object;
  duplicate(overrides?: object): NodeRedisCluster;
  connect(): Promise<unknown>;
  destroy(): void;
  nodeClient(node: NodeRedisNode): Promise<NodeRedisClient> | NodeRedisClient;
  on(event: string, listener: (first: unknown) => void): unknown;
}

/** An argument of `nodeClient`, known to node-redis alone. */
type NodeRedisNode = { readonly address: string };

const CLUSTER_OVERRIDES = {
  minimizeConnections: true,
  useReplicas: false,
  clientSideCache: undefined,
};

export function nodeRedisDiscover(client: NodeRedisCluster): Discover {
  const { nodeAddressMap } = client._options as { readonly nodeAddressMap?: PlaceMap };
  return (signal) =>
    askOnce(client.duplicate(CLUSTER_OVERRIDES), signal, {
      ask: async (cluster) => {
        // The first client to connect shows how all servers are reached.
        const nodes = cluster.masters.map((master) => cluster.nodeClient(master));
        const node = await abortable(signal, Promise.any(nodes));
        return {
          slots: Array.from(cluster.slots, (shard) => shard?.master.address),
          at: (address: string) => nodeRedisSource(node, placeOf(address, nodeAddressMap)),
        };
      },
      end: (cluster) => cluster.destroy(),
    });
}
