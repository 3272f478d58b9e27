/**
 * What the error codes of databases mean, each listed once: SQLSTATEs of PostgreSQL, or their first
 * characters, and numbers of MySQL and MariaDB.
 */
import type { Meaning } from '../breaks.ts';

/**
 * Why a statement failed. `deadlock`: this transaction and others waited for each other.
 * `lock-timeout`: another transaction held the lock for longer than the wait. `serialization`:
 * another one changed the row after this transaction began to read. `aborted`: an earlier statement
 * of the transaction had failed. `cancelled`: by a time limit of the database or an operator.
 * `connection`: it broke. `missing`: there is no such row. `refused`: anything else.
 */
export type TransactionFailure =
  | 'deadlock'
  | 'lock-timeout'
  | 'serialization'
  | 'aborted'
  | 'cancelled'
  | 'connection'
  | 'missing'
  | 'refused';

/** What a failure is to a store, in whose call each statement is a transaction. */
export interface SqlFailure extends Meaning {
  /** What it is in a transaction of the user's; `usage` is a mistake. Default: `refused`. */
  readonly reason?: TransactionFailure | 'usage';
  /** The session is of no use any more. */
  readonly broken?: true;
  /** Default: it has not happened. */
  readonly outcome?: 'unknown';
}

type FailureTerms = Omit<SqlFailure, 'advice'>;

/** Stands for what the tables of this database need. */
export const MIGRATE = 'MIGRATE';
/** Stands for the page of this database. */
export const PAGE = 'PAGE';

const PASSING: FailureTerms = { retryable: true };
const LASTING: FailureTerms = { retryable: false };
/** It may have committed before. */
const OVER = { broken: true, outcome: 'unknown' } as const;
const LOST: FailureTerms = { reason: 'connection', ...OVER, retryable: true };
const CHANGED: FailureTerms = { reason: 'serialization', retryable: true };
const CANCELLED: FailureTerms = { reason: 'cancelled', retryable: true };
const STOPPED: FailureTerms = { ...CANCELLED, ...OVER };
const UNFIT: FailureTerms = { broken: true, retryable: true };
const USAGE: FailureTerms = { reason: 'usage', retryable: false };

export const REPLICA: string =
  'accepts no writes: it is, or was made, a standby, a replica or read-only. The store looks up' +
  ' the primary again';
const LOCKED =
  'could not lock a row in time. Look for a session that stays idle in a' +
  ' transaction on the tables of Holdfast';
const STRANGER = 'does not let this user in. Check the user name,';
const DENIED = `does not permit this user to do that. ${PAGE} has the grants that are needed`;
const CROWDED = 'has no connection left. Look at max_connections and at pools';

const FAILURES: readonly (readonly [
  codes: readonly (string | number)[],
  terms: FailureTerms,
  advice: string,
])[] = [
  [['40P01', 1213], { reason: 'deadlock', retryable: true }, 'broke up a deadlock'],
  [['55P03', 1205, 3572], { reason: 'lock-timeout', retryable: true }, LOCKED],
  [['40001'], CHANGED, 'could not serialize this transaction with others'],
  [[1020], CHANGED, 'found that the row had changed meanwhile'],
  [['25P02'], { reason: 'aborted', retryable: false }, 'refused'],
  [['57014'], CANCELLED, 'cancelled the statement, on request or at a time limit'],
  [[1317, 1969, 3024], STOPPED, 'stopped the call, on request or at a time limit'],
  [['25P03', '25P04', '57P', 1053, 1927, 3169, 4031], LOST, 'ended the session'],
  [['08'], LOST, 'lost the connection'],
  [['57P03'], LOST, 'is just starting or stopping'],
  [['57P04'], { ...OVER, retryable: false }, 'has dropped this database'],
  [['25006', 1290, 1792, 1836], UNFIT, REPLICA],
  [['26000'], UNFIT, 'does not know a prepared statement'],
  [['42P05'], UNFIT, 'already has a statement of that name'],
  [[1180], { outcome: 'unknown', retryable: true }, 'could not commit'],
  [['28'], LASTING, `${STRANGER} password and pg_hba.conf`],
  [[1045], LASTING, `${STRANGER} the password and the host`],
  [[1130], LASTING, 'does not let this host in'],
  [[3159], LASTING, 'wants TLS, and the client does not speak it'],
  [['3D000', 1049], USAGE, 'has no such database'],
  [[1046], LASTING, 'was given no database. Give the client one'],
  [['42501', 1044, 1142], LASTING, DENIED],
  // No such table or schema; no such function.
  [['42P01', '3F000', 1146], USAGE, MIGRATE],
  [['42883'], LASTING, MIGRATE],
  // No such column; nothing unique about the key; a column needs a value.
  [['42703', '42P10', '23502', 1054, 1364], USAGE, 'refused'],
  [['53300', 1040, 1203, 1226], PASSING, CROWDED],
  [['53'], PASSING, 'has run out of a resource. Look at its log'],
  [[1021, 1041, 1114], PASSING, 'has run out of space. Look at its log'],
  [['58'], PASSING, 'has trouble with its files. Look at its log'],
];

const BY_CODE: ReadonlyMap<string | number, SqlFailure> = new Map(
  FAILURES.flatMap(([codes, terms, advice]) =>
    codes.map((code) => [code, { ...terms, advice }] as const),
  ),
);

/** By a number of MySQL, or a SQLSTATE, which may be listed by its class. */
export function failureOf(code: string | number): SqlFailure {
  const keys = typeof code === 'number' ? [code] : [5, 3, 2].map((length) => code.slice(0, length));
  const found = keys.map((key) => BY_CODE.get(key)).find(Boolean);
  return found ?? { ...LASTING, advice: 'refused' };
}
