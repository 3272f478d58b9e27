/**
 * Clients are recognised by their members, never by `instanceof`: a program may have two copies of
 * a package. A value that is not a client is refused before anything is sent, with what was
 * expected.
 */
import { UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';

export type Members<Name extends string = string> = Readonly<Record<Name, unknown>> &
  Readonly<Record<string, unknown>>;

/** Whether all these are methods of it. */
export function has<Name extends string>(
  value: unknown,
  ...names: readonly Name[]
): value is Members<Name> {
  if (!isObject(value) && typeof value !== 'function') return false;
  return names.every((name) => typeof (value as unknown as Members)[name] === 'function');
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export interface Expected {
  readonly what: string;
  readonly clients: string;
}

/** @throws UsageError for a URL, which may contain a password, so no message repeats it. */
export function refuseText(client: unknown, { clients }: Expected): void {
  if (typeof client !== 'string') return;
  throw new UsageError(
    `A string is not a client: give ${clients}. For a URL, use connect() of holdfast/connect.`,
  );
}

export function notAClient(client: unknown, { what, clients }: Expected): UsageError {
  const given = isObject(client) || typeof client === 'function' ? nameOf(client) : show(client);
  return new UsageError(`${what} was expected: ${clients}; not ${given}.`);
}

/** The words are those of the package: it was closed, or has ended. */
export function over(how: 'is closed' | 'has ended'): UsageError {
  return new UsageError(`The client ${how}. The locks need one that is open, or not yet opened.`);
}

/** Names the class only: the contents may show a password. */
function nameOf(value: object): string {
  try {
    if (has(value, 'then')) return 'a promise, which needs an await';
    if (typeof value === 'function') return 'a function';
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? `an object (${name})` : 'an object';
  } catch {
    return 'an object';
  }
}
