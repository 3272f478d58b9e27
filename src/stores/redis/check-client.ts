/**
 * Refuses a value that is no client before anything is sent, and names what was expected.
 *
 * Clients are told apart by their members, never by `instanceof`: a program may have two copies of
 * a package.
 */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

const EXPECTED =
  'a Redis or Cluster of ioredis, or what createClient, createCluster or createSentinel of the' +
  ' package redis gives';

/** @throws UsageError */
export function checkClient(client: unknown): void {
  if (typeof client === 'string') {
    // The text may contain a password, so no message repeats it.
    throw new UsageError(
      `A string is not a client: give ${EXPECTED}. For a URL, use connect() of holdfast/connect.`,
    );
  }
  if (!has(client, 'connect', 'on')) throw unknown(client);
  if ('isCluster' in client) {
    if (!has(client, 'duplicate', 'disconnect', client.isCluster === true ? 'nodes' : 'call')) {
      throw unknown(client);
    }
    return checkIoredis(client);
  }
  const sentinel = has(client, '_execute', 'getSentinelNode');
  if (!has(client, 'destroy', sentinel ? 'use' : 'duplicate', 'sendCommand')) throw unknown(client);
  checkNodeRedis(client);
}

function checkIoredis({ mode, status }: Readonly<Record<string, unknown>>): void {
  if (status === 'end') throw closed();
  if (mode === 'subscriber' || mode === 'monitor') {
    throw new UsageError(`The client is in ${mode} mode: give one that sends commands.`);
  }
}

function checkNodeRedis(client: Readonly<Record<string, unknown>>): void {
  const { isOpen, socketEpoch, isPubSubActive, options } = client;
  // A client that never connected is not open either, but not closed for good.
  if (isOpen === false && Number(socketEpoch ?? 0) > 0) throw closed();
  // With RESP3, a client that listens can send commands as well. Version 6, which has key prefixes,
  // uses RESP3 by default.
  const { RESP = '_keyPrefix' in client ? 3 : 2 } = (options ?? {}) as { RESP?: unknown };
  if (isPubSubActive === true && RESP !== 3) {
    throw new UsageError('The client is in subscriber mode: give one that sends commands.');
  }
}

function closed(): UsageError {
  return new UsageError(
    'The client is closed. The locks need one that is open, or not yet opened.',
  );
}

function unknown(client: unknown): UsageError {
  const what = typeof client === 'object' && client !== null ? nameOf(client) : show(client);
  return new UsageError(`A Redis client was expected: ${EXPECTED}; not ${what}.`);
}

/** Names the class only: the contents of a pool of connections show its password. */
function nameOf(value: object): string {
  try {
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? `an object (${name})` : 'an object';
  } catch {
    return 'an object';
  }
}

function has(
  value: unknown,
  ...names: readonly string[]
): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
