/** Typed errors for those that clients throw at the user's statements. */
import { isLockError, LockError, type LockErrorOptions, UsageError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { causesOf, describe, type Thrown } from '../causes.ts';
import { failureOf, type TransactionFailure } from './failures.ts';
import type { Dialect } from './sql.ts';

/** A statement on the caller's own connection failed; in a transaction: roll it back. */
export class TransactionError extends LockError {
  readonly reason: TransactionFailure;
  /** The whole transaction may succeed when it is run again. */
  readonly retryable: boolean;
  /** `unknown`: outside of a transaction, it may have been carried out. */
  readonly outcome: 'failed' | 'unknown';

  constructor(
    message: string,
    options: LockErrorOptions & {
      readonly reason: TransactionFailure;
      readonly retryable: boolean;
      readonly outcome?: 'failed' | 'unknown';
    },
  ) {
    super('TRANSACTION', message, options);
    this.reason = options.reason;
    this.retryable = options.retryable;
    this.outcome = options.outcome ?? 'failed';
  }
}

type FailureKind = TransactionFailure | 'usage';

const BROKEN =
  /^(ECONN|EPIPE|ETIMEDOUT|PROTOCOL_|CONNECTION_|ER_(SOCKET|CMD_CONNECTION|CONNECTION)_)/;
/** Prisma's codes and kinds, and numbers of mariadb, of which Prisma passes on no names. */
const BROKEN_PRISMA =
  /^(P10(01|08|17)|ConnectionClosed|SocketTimeout|DatabaseNotReachable|450(01|04|09|13|19|26))$/;
const BROKEN_TEXT = /connection (terminated|ended|closed)|not queryable|client was closed/i;

const RETRYABLE = new Set<FailureKind>([
  ...(['deadlock', 'lock-timeout', 'serialization', 'cancelled', 'connection'] as const),
]);

const TEXT: Readonly<Record<Exclude<FailureKind, 'usage'>, string>> = {
  deadlock: 'The database rolled this transaction back to break a deadlock',
  'lock-timeout': 'Another transaction held the lock for too long',
  serialization: 'Another transaction has changed the data since this one began to read',
  aborted: 'An earlier statement of this transaction failed, so it can only be rolled back',
  cancelled: 'The statement was cancelled',
  connection: 'The connection broke',
  missing: 'There is no such row',
  refused: 'The database refused the statement',
};

/** @param lost the outcome of a statement whose connection broke. */
export function toTyped(error: unknown, dialect: Dialect, lost: 'failed' | 'unknown'): LockError {
  if (isLockError(error)) return error;
  const { kind, said } = kindOf(error, dialect);
  if (kind === 'usage') return new UsageError(`The database says: ${said}`, { cause: error });
  return new TransactionError(`${TEXT[kind]}: ${said}`, {
    reason: kind,
    retryable: RETRYABLE.has(kind),
    outcome: kind === 'connection' ? lost : 'failed',
    cause: error,
  });
}

/**
 * Whether a whole transaction that failed with this may succeed when it is run again, from its
 * BEGIN on. It takes errors of Holdfast, and of clients at your own statements: at SERIALIZABLE
 * even COMMIT fails so. False for a client's broken connection: COMMIT may have succeeded.
 *
 * @example
 * import { isRetryable } from 'holdfast/sql';
 *
 * const sellOne = () => sql.begin((tx) => tx`update stock set n = n - 1 where sku = ${sku}`);
 * await sellOne().catch((error) => (isRetryable(error) ? sellOne() : Promise.reject(error)));
 */
export function isRetryable(error: unknown): boolean {
  if (isLockError(error, 'TRANSACTION')) return (error as TransactionError).retryable;
  const reason = reasonIn(error);
  return reason !== 'connection' && RETRYABLE.has(reason);
}

export function reasonIn(error: unknown): TransactionFailure {
  if (isLockError(error, 'TRANSACTION')) return (error as TransactionError).reason;
  if (isLockError(error)) return 'refused';
  let reason: TransactionFailure = 'refused';
  for (const dialect of ['postgres', 'mysql'] as const) {
    const { kind } = kindOf(error, dialect);
    // To one that does not know its number, an error may look like a broken connection.
    if (kind === 'connection') reason = kind;
    else if (kind !== 'refused' && kind !== 'usage') return kind;
  }
  return reason;
}

function kindOf(
  error: unknown,
  dialect: Dialect,
): { readonly kind: FailureKind; readonly said: string } {
  let said = String(error);
  for (const thrown of causesOf(error)) {
    const kind = kindAt(thrown, dialect);
    said = saidIn(thrown) ?? said;
    if (kind) return { kind, said };
  }
  return { kind: 'refused', said };
}

/** PostgreSQL's code is in `errno` with Bun, and in `originalCode` with Prisma, as is MySQL's. */
function kindAt(thrown: Thrown, dialect: Dialect): FailureKind | undefined {
  const { code, errno, originalCode } = thrown;
  const codes = [errno, originalCode, ...(dialect === 'postgres' ? [code] : [])];
  for (const one of codes) {
    const { reason } = failureOf(dialect === 'postgres' ? String(one) : Number(one));
    if (reason) return reason;
  }
  const prisma = [code, thrown.kind].some((one) => BROKEN_PRISMA.test(String(one)));
  if (prisma || BROKEN.test(String(code)) || thrown.fatal === true) return 'connection';
  return BROKEN_TEXT.test(saidIn(thrown) ?? '') ? 'connection' : undefined;
}

function saidIn({ originalMessage, message }: Thrown): string | undefined {
  return [originalMessage, message].find((text) => typeof text === 'string');
}

/** @param needs what to tell where the database has no such table or column. */
export function storeErrorOf(error: unknown, needs: string): unknown {
  if (isLockError(error, 'USAGE') && error.cause !== undefined) {
    return new UsageError(`${error.message}. ${needs}`, { cause: error.cause });
  }
  if (!isLockError(error, 'TRANSACTION')) return error;
  const { retryable, outcome } = error as TransactionError;
  return new StoreError(`The database failed (${describe(error)}).`, {
    cause: error,
    retryable,
    outcome,
  });
}
