/**
 * Refuses a value that is no client before anything is sent, and names what was expected.
 *
 * Clients are told apart by their members, never by `instanceof`: a program may have two copies of
 * a package.
 */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

const EXPECTED =
  'a Pool or Client of pg, or what postgres() of the package postgres gives (the one that Kysely,' +
  ' Drizzle or Prisma was given)';

type Members = Readonly<Record<string, unknown>>;

/** @throws UsageError */
export function checkClient(client: unknown): 'pg' | 'postgres' {
  if (typeof client === 'string') {
    // The text may contain a password, so no message repeats it.
    throw new UsageError(
      `A string is not a client: give ${EXPECTED}. For a URL, use connect() of holdfast/connect.`,
    );
  }
  if (typeof client === 'function') {
    checkPostgresJs(client);
    return 'postgres';
  }
  if (!has(client, 'connect', 'query', 'end')) throw unknown(client);
  if (typeof client.Client === 'function' && typeof client.totalCount === 'number') {
    if (client.ending || client.ended) throw closed();
    checkNative(client.Client.prototype);
  } else if (isObject(client.connectionParameters)) {
    checkNative(client);
    checkPgClient(client);
  } else throw unknown(client);
  return 'pg';
}

function checkPgClient(client: Members): void {
  if (client._ending || client._ended) throw closed();
  const { getTransactionStatus } = client;
  const status = typeof getTransactionStatus === 'function' && getTransactionStatus.call(client);
  if (status === 'T' || status === 'E') throw inTransaction();
}

function checkNative(client: unknown): void {
  if (has(client, 'getStartupConf')) return;
  throw new UsageError('The client is of pg-native, which is not supported: give one of pg.');
}

/** A transaction and a reserved connection are functions as well, and have no options. */
function checkPostgresJs(client: object): void {
  const members = client as Members;
  if (!has(client, 'unsafe')) throw unknown(client);
  if (has(client, 'savepoint')) throw inTransaction();
  if (has(client, 'release')) {
    throw new UsageError('The client is a reserved connection: give the client that it came from.');
  }
  if (!has(client, 'reserve', 'end') || !isObject(members.options)) throw unknown(client);
  const { host, port } = members.options as Members;
  if (!Array.isArray(host) || !Array.isArray(port)) throw unknown(client);
}

function inTransaction(): UsageError {
  const message = 'The client is in a transaction, and the locks would not be part of it';
  return new UsageError(`${message}: give the pool, or what postgres() gave.`);
}

function closed(): UsageError {
  return new UsageError(
    'The client has ended. The locks need one that is open, or not yet opened.',
  );
}

function unknown(client: unknown): UsageError {
  const composite = isObject(client) || typeof client === 'function';
  const what = composite ? nameOf(client as object) : show(client);
  return new UsageError(`A PostgreSQL client was expected: ${EXPECTED}; not ${what}.`);
}

/** Names the class only: the contents may show a password. */
function nameOf(value: object): string {
  try {
    if (typeof value === 'function') return 'a function';
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? `an object (${name})` : 'an object';
  } catch {
    return 'an object';
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function has(value: unknown, ...names: readonly string[]): value is Members {
  if (!isObject(value) && typeof value !== 'function') return false;
  return names.every((name) => typeof (value as Members)[name] === 'function');
}
