/** Refuses a value that is not a client of Redis, or an unusable one. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { has, notAClient, over, refuseText } from '../members.ts';

const EXPECTED = {
  what: 'A Redis client',
  clients:
    'a Redis or Cluster of ioredis (5.4 or newer), or what createClient, createCluster or' +
    ' createSentinel of the package redis (5 or newer) gives',
};

/** @throws UsageError */
export function checkClient(client: unknown): void {
  refuseText(client, EXPECTED);
  if (!has(client, 'connect', 'on')) throw notAClient(client, EXPECTED);
  if ('isCluster' in client) {
    if (!has(client, 'duplicate', 'disconnect', client.isCluster === true ? 'nodes' : 'call')) {
      throw notAClient(client, EXPECTED);
    }
    if (client.status === 'end') throw over('is closed');
    return;
  }
  if (has(client, 'sendCommand', 'disconnect', 'quit') && !has(client, 'destroy')) {
    throw new UsageError('The client is of version 4 of the package redis; version 5 is needed.');
  }
  const sentinel = has(client, '_execute', 'getSentinelNode');
  if (!has(client, 'destroy', sentinel ? 'use' : 'duplicate', 'sendCommand'))
    throw notAClient(client, EXPECTED);
  // A client that never connected is not open either, but not closed for good.
  if (client.isOpen === false && Number(client.socketEpoch ?? 0) > 0) throw over('is closed');
}

interface PrefixOptions {
  readonly keyPrefix?: unknown;
  /** The options for the nodes of a cluster of ioredis. */
  readonly redisOptions?: PrefixOptions;
}

/**
 * Keys that the caller's programs have in common are given in full: the store's connections add no
 * prefix, and with one of the client's the others would have other keys. Every client of node-redis
 * that has prefixes (version 6) shows its own as `_keyPrefix`, also where its options are private.
 * @throws UsageError
 */
export function refuseKeyPrefix(client: unknown): void {
  const { options, _keyPrefix } = (client ?? {}) as {
    readonly options?: PrefixOptions;
    readonly _keyPrefix?: unknown;
  };
  const all = [_keyPrefix, options?.keyPrefix, options?.redisOptions?.keyPrefix];
  const prefix = all.map((each) => String(each ?? '')).find((each) => each !== '');
  if (prefix === undefined) return;
  throw new UsageError(
    `The client begins keys with ${show(prefix)}, and Holdfast uses them as they are named:` +
      ' programs with this client would not share them. Give' +
      " client.duplicate({ keyPrefix: '' }), and keys in full.",
  );
}
