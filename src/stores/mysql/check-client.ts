/**
 * Refuses a value that is no client before anything is sent, and names what was expected.
 *
 * Clients are told apart by their members, never by `instanceof`: a program may have two copies of
 * a package.
 */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { coreOf } from './mysql2-connection.ts';

const EXPECTED = 'a pool or connection of mysql2 or mariadb, with callbacks or promises';

/** @throws UsageError */
export function checkClient(client: unknown): 'mysql2' | 'mariadb' {
  if (typeof client === 'string') {
    // The text may contain a password, so no message repeats it.
    throw new UsageError(
      `A string is not a client: give ${EXPECTED}. For a URL, use connect() of holdfast/connect.`,
    );
  }
  if (!has(client, 'query', 'execute', 'end')) throw unknown(client);
  const core = coreOf(client);
  if (core && has(client, 'format', 'on')) {
    if (Reflect.get(core, '_closed') === true || Reflect.get(core, '_closing') === true) {
      throw closed();
    }
    return 'mysql2';
  }
  if (!has(client, 'batch', 'escapeId')) throw unknown(client);
  const connection = 'threadId' in client;
  if (!connection && !has(client, 'getConnection', 'totalConnections')) throw unknown(client);
  if (Reflect.get(client, 'closed') === true) throw closed();
  if (connection && has(client, 'isValid') && Reflect.apply(client.isValid, client, []) === false) {
    throw closed();
  }
  return 'mariadb';
}

function closed(): UsageError {
  return new UsageError(
    'The client has ended. The locks need one that is open, or not yet opened.',
  );
}

function unknown(client: unknown): UsageError {
  const what = typeof client === 'object' && client !== null ? nameOf(client) : show(client);
  return new UsageError(`A MySQL or MariaDB client was expected: ${EXPECTED}; not ${what}.`);
}

/** Names the class only: the contents may show a password. */
function nameOf(value: object): string {
  try {
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? `an object (${name})` : 'an object';
  } catch {
    return 'an object';
  }
}

function has<Name extends string>(
  value: unknown,
  ...names: readonly Name[]
): value is Readonly<Record<Name, () => unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof Reflect.get(value, name) === 'function');
}
