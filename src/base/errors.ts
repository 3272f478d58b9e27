import { asJson, show } from './show.ts';

/** Marks all errors of Holdfast, from any copy of the package. */
const BRAND = Symbol.for('holdfast.error');

export type LockErrorCode =
  | 'ACQUIRE_TIMEOUT'
  | 'LEASE_LOST'
  | 'STALE_TOKEN'
  | 'FENCE_HEADERS'
  | 'MISMATCH'
  | 'CONFLICT'
  | 'DEADLOCK'
  | 'QUEUE_FULL'
  | 'REFRESH'
  | 'CLOSED'
  | 'STORE'
  | 'TRANSACTION'
  | 'UNSUPPORTED'
  | 'USAGE';

export interface LockErrorOptions {
  readonly resource?: string | undefined;
  readonly cause?: unknown;
}

/** Base of all errors of Holdfast. */
export class LockError extends Error {
  readonly code: LockErrorCode;
  /** The full name of the resource, if the error concerns one. */
  readonly resource: string | undefined;

  constructor(code: LockErrorCode, message: string, options: LockErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.resource = options.resource;
    this.name = new.target.name;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** For logs: its fields, with tokens as text, and the message of its cause. */
  toJSON(): unknown {
    const { message, cause } = this;
    return asJson({ ...this, message, cause: cause === undefined ? cause : messageOf(cause) });
  }
}

/**
 * True for errors of any copy of Holdfast; with `code`, only for errors with that code.
 *
 * @example
 * import { isLockError } from 'holdfast';
 *
 * try {
 *   await locks.mutex('report').run({ wait: '5s' }, ({ signal }) => buildReport(signal));
 * } catch (error) {
 *   if (!isLockError(error, 'ACQUIRE_TIMEOUT')) throw error; // else it is taken
 * }
 */
export function isLockError(error: unknown, code?: LockErrorCode): error is LockError {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false;
  return code === undefined || (error as { code?: unknown }).code === code;
}

/** Whether it is an error of any realm: in Jest, Node's are not instances of `Error`. */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  const { name, message } = value as Partial<Error>;
  return typeof name === 'string' && typeof message === 'string';
}

/** The message of whatever was thrown, also of what cannot be read. */
export function messageOf(error: unknown): string {
  try {
    if (typeof error === 'string') return error;
    return isError(error) ? `${error.message}` : show(error);
  } catch {
    return show(error);
  }
}

export function quote(resource: string): string {
  return JSON.stringify(resource.length > 80 ? `${resource.slice(0, 77)}...` : resource);
}

/** A mistake in the calling program; thrown before anything is sent. */
export class UsageError extends LockError {
  constructor(message: string, options?: LockErrorOptions) {
    super('USAGE', message, options);
  }
}

const BEFORE = '; before that: ';

/** The end of a message that says what failed before: of a chain of such messages, the first. */
export function beforeThat(said: string): string {
  return `${BEFORE}${said.split(BEFORE).at(-1)}`;
}
