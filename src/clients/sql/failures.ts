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
  readonly codes: readonly (string | number)[];
  /** What it is in a transaction of the user's; `usage` is a mistake. Default: `refused`. */
  readonly reason?: TransactionFailure | 'usage';
  /** The session is of no use any more. */
  readonly broken?: true;
  /** Default: it has not happened. */
  readonly outcome?: 'unknown';
}

/** Stands for what the tables of this database need. */
export const MIGRATE = 'MIGRATE';
/** Stands for the page of this database. */
export const PAGE = 'PAGE';

/** It may have committed before. */
const OVER = { broken: true, outcome: 'unknown' } as const;
const LOST = { reason: 'connection', ...OVER, retryable: true } as const;
const CHANGED = { reason: 'serialization', retryable: true } as const;
const UNFIT = { broken: true, retryable: true } as const;
const USAGE = { reason: 'usage', retryable: false } as const;
export const REPLICA: string =
  'accepts no writes: it is, or was made, a standby, a replica or read-only. The store looks up' +
  ' the primary again';

export const FAILURES: readonly SqlFailure[] = [
  { codes: ['40P01', 1213], reason: 'deadlock', retryable: true, advice: 'broke up a deadlock' },
  {
    codes: ['55P03', 1205, 3572],
    reason: 'lock-timeout',
    retryable: true,
    advice:
      'could not lock a row in time. Look for a session that stays idle in a' +
      ' transaction on the tables of Holdfast',
  },
  { codes: ['40001'], ...CHANGED, advice: 'could not serialize this transaction with others' },
  { codes: [1020], ...CHANGED, advice: 'found that the row had changed meanwhile' },
  { codes: ['25P02'], reason: 'aborted', retryable: false, advice: 'refused' },
  {
    codes: ['57014'],
    reason: 'cancelled',
    retryable: true,
    advice: 'cancelled the statement, on request or at a time limit',
  },
  {
    codes: [1317, 1969, 3024],
    reason: 'cancelled',
    ...OVER,
    retryable: true,
    advice: 'stopped the call, on request or at a time limit',
  },
  {
    codes: ['25P03', '25P04', '57P', 1053, 1927, 3169, 4031],
    ...LOST,
    advice: 'ended the session',
  },
  { codes: ['08'], ...LOST, advice: 'lost the connection' },
  { codes: ['57P03'], ...LOST, advice: 'is just starting or stopping' },
  { codes: ['57P04'], ...OVER, retryable: false, advice: 'has dropped this database' },
  { codes: ['25006', 1290, 1792, 1836], ...UNFIT, advice: REPLICA },
  { codes: ['26000'], ...UNFIT, advice: 'does not know a prepared statement' },
  { codes: ['42P05'], ...UNFIT, advice: 'already has a statement of that name' },
  { codes: [1180], outcome: 'unknown', retryable: true, advice: 'could not commit' },
  {
    codes: ['28'],
    retryable: false,
    advice: 'does not let this user in. Check the user name, password and pg_hba.conf',
  },
  {
    codes: [1045],
    retryable: false,
    advice: 'does not let this user in. Check the user name, the password and the host',
  },
  { codes: [1130], retryable: false, advice: 'does not let this host in' },
  { codes: [3159], retryable: false, advice: 'wants TLS, and the client does not speak it' },
  { codes: ['3D000', 1049], ...USAGE, advice: 'has no such database' },
  { codes: [1046], retryable: false, advice: 'was given no database. Give the client one' },
  {
    codes: ['42501', 1044, 1142],
    retryable: false,
    advice: `does not permit this user to do that. ${PAGE} has the grants that are needed`,
  },
  // No such table or schema; no such function.
  { codes: ['42P01', '3F000', 1146], ...USAGE, advice: MIGRATE },
  { codes: ['42883'], retryable: false, advice: MIGRATE },
  // No such column; nothing unique about the key; a column needs a value.
  { codes: ['42703', '42P10', '23502', 1054, 1364], ...USAGE, advice: 'refused' },
  {
    codes: ['53300', 1040, 1203, 1226],
    retryable: true,
    advice: 'has no connection left. Look at max_connections and at pools',
  },
  { codes: ['53'], retryable: true, advice: 'has run out of a resource. Look at its log' },
  { codes: [1021, 1041, 1114], retryable: true, advice: 'has run out of space. Look at its log' },
  { codes: ['58'], retryable: true, advice: 'has trouble with its files. Look at its log' },
];

const BY_CODE: ReadonlyMap<string | number, SqlFailure> = new Map(
  FAILURES.flatMap((failure) => failure.codes.map((code) => [code, failure] as const)),
);

const REFUSED: SqlFailure = { codes: [], retryable: false, advice: 'refused' };

/** By a number of MySQL, or a SQLSTATE, which may be listed by its class. */
export function failureOf(code: string | number): SqlFailure {
  const keys = typeof code === 'number' ? [code] : [5, 3, 2].map((length) => code.slice(0, length));
  return keys.map((key) => BY_CODE.get(key)).find(Boolean) ?? REFUSED;
}
