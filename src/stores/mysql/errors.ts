/**
 * What the error numbers of MySQL and MariaDB and a client's connection errors mean to a caller.
 *
 * Each call is one transaction, which is rolled back before the server refuses, so it has not
 * happened; only where a call is interrupted, the connection breaks or a procedure is being
 * replaced, it may have committed before. An interrupted session may still be in its transaction,
 * so the store drops it. A cause is a copy of number and message: clients put statements into their
 * errors, and those contain claim ids.
 */
import { isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { copyOf, describe, type Reading, withoutSecrets } from '../causes.ts';
import type { Judgement } from '../sql/wire.ts';

interface Meaning {
  readonly retryable: boolean;
  readonly advice: string;
  /** The session is of no use any more. */
  readonly broken?: true;
  /** Default: it has not happened. */
  readonly outcome?: 'unknown';
}

/** There is no such procedure. */
export const NO_ROUTINE = 1305;
/** The procedure takes other arguments: another version is there. */
const OTHER_ARGUMENTS = 1318;

const MIGRATE =
  'has no tables of Holdfast in this database, or older ones. Run' +
  ' `npx holdfast migrate --store mysql://…` with the same database and prefix';

const GRANTS =
  'does not permit this user to do that. docs/stores/mysql.md has the grants that are needed';

const STOPPED: Meaning = {
  retryable: true,
  broken: true,
  outcome: 'unknown',
  advice: 'stopped the call, on request or at a time limit',
};

const ENDED: Meaning = {
  retryable: true,
  broken: true,
  outcome: 'unknown',
  advice: 'ended the session',
};

const NO_PRIMARY: Meaning = {
  retryable: true,
  broken: true,
  advice: 'accepts no writes: it is, or was made, a replica. The store looks up the primary again',
};

const FULL: Meaning = { retryable: true, advice: 'has run out of space. Look at its log' };
const DENIED: Meaning = { retryable: false, advice: GRANTS };
const MISSING: Meaning = { retryable: false, advice: MIGRATE };

/** For a session whose first call has found it. Some procedures are called after the commit. */
const REPLACED: Meaning = {
  retryable: true,
  broken: true,
  outcome: 'unknown',
  advice: 'has no such procedure at this moment: `holdfast migrate` is replacing it',
};

const CROWDED: Meaning = {
  retryable: true,
  advice: 'has no connection left. Look at max_connections and at pools',
};

const MEANINGS: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  [1020, { retryable: true, advice: 'found that the row had changed meanwhile' }],
  [1021, FULL],
  [1040, CROWDED],
  [1041, FULL],
  [1044, DENIED],
  [
    1045,
    {
      retryable: false,
      advice: 'does not let this user in. Check the user name, the password and the host',
    },
  ],
  [1046, { retryable: false, advice: 'was given no database. Give the client one' }],
  [1049, { retryable: false, advice: 'has no such database' }],
  [1053, ENDED],
  [1114, FULL],
  [1130, { retryable: false, advice: 'does not let this host in' }],
  [1142, DENIED],
  [1146, MISSING],
  [1180, { retryable: true, outcome: 'unknown', advice: 'could not commit' }],
  [1203, CROWDED],
  [
    1205,
    {
      retryable: true,
      advice:
        'could not lock a row in time. Look for a session that stays idle in a' +
        ' transaction on the tables of Holdfast',
    },
  ],
  [1213, { retryable: true, advice: 'broke up a deadlock' }],
  [1226, CROWDED],
  [1290, NO_PRIMARY],
  [NO_ROUTINE, MISSING],
  [1317, STOPPED],
  [OTHER_ARGUMENTS, MISSING],
  [1370, DENIED],
  [1449, { retryable: false, advice: 'has lost the user that created the tables: migrate again' }],
  [1568, { retryable: true, broken: true, advice: 'says that the session is in a transaction' }],
  [1792, NO_PRIMARY],
  [1836, NO_PRIMARY],
  [1927, ENDED],
  [1969, STOPPED],
  [3024, STOPPED],
  [3169, ENDED],
  [4031, ENDED],
]);

const REFUSED: Meaning = { retryable: false, advice: 'refused' };

/** A connection error's code, or words of its message where it has none. */
const BREAKS: readonly (readonly [sign: RegExp, Meaning])[] = [
  [/ECONNREFUSED/, { retryable: true, advice: 'is not running: nothing listens at that address' }],
  [/ENOENT/, { retryable: true, advice: 'is not running: its socket file is missing' }],
  [
    /ENOTFOUND|EAI_AGAIN/,
    { retryable: true, advice: 'could not be found: its host name is not known' },
  ],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i,
    { retryable: true, advice: 'cannot be reached. Look at the network and at firewalls' },
  ],
  [
    /ERR_SSL|ERR_TLS|CERT|certificate|self.signed|wrong version|EPROTO|\bSSL\b|_NO_SSL|tlsv1/i,
    {
      retryable: false,
      advice: "and the client do not agree on TLS. Check the client's ssl options and certificates",
    },
  ],
];

const BROKEN: Meaning = { retryable: true, advice: 'broke the connection' };

export function judge(error: unknown, during: 'open' | 'call'): Judgement {
  if (isLockError(error)) return { error: error as StoreError, broken: false };
  const number = numberOf(error);
  const said = describe(error, READING);
  const found = meaningOf(number, said, during);
  const unknown = number === undefined || found.outcome === 'unknown';
  return {
    broken: number === undefined || found.broken === true,
    blocked: number === 1205,
    error: new StoreError(`The MySQL server ${found.advice} (${said}).`, {
      cause: copyOf(error instanceof Error ? error.name : 'Error', said),
      // A server that has worked before will most likely work again.
      retryable: found.retryable || (number === undefined && during === 'call'),
      outcome: unknown && during === 'call' ? 'unknown' : 'failed',
    }),
  };
}

function meaningOf(number: number | undefined, said: string, during: 'open' | 'call'): Meaning {
  if (number === undefined) return breakOf(said);
  const replaced = number === NO_ROUTINE || number === OTHER_ARGUMENTS;
  if (replaced && during === 'call') return REPLACED;
  return MEANINGS.get(number) ?? REFUSED;
}

/** The error of a server on which locks are impossible. */
export function impossible(why: string): StoreError {
  const message = `The MySQL server cannot keep locks: ${why}.`;
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

/** The error of tables that are not those of this version. */
export function anotherLayout(found: string, known: number): StoreError {
  const newer =
    Number(found) > known ? 'newer; install the version of Holdfast that made it' : MIGRATE;
  const message = `The layout of the tables is ${found}, not ${known}: the server ${newer}.`;
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

/** The server's error number, if it replied; clients number their own from 45,000 on. */
export function numberOf(error: unknown): number | undefined {
  const { errno, sqlState, syscall, fatal } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof errno !== 'number' || errno < 1000 || errno >= 45_000) return undefined;
  if (syscall !== undefined || typeof sqlState !== 'string') return undefined;
  // An error during connecting, such as too many connections, has no state.
  return sqlState !== '' || fatal !== undefined ? errno : undefined;
}

function breakOf(said: string): Meaning {
  return BREAKS.find(([sign]) => sign.test(said))?.[1] ?? BROKEN;
}

/** Clients add the statement, and syntax errors quote it. */
const READING: Reading = {
  clean: (text) => withoutSecrets(text.replace(/ near '.*$/s, '').replace(/\bsql: .*$/is, '')),
  messageOf: (error) => {
    const { sqlMessage } = error as { sqlMessage?: unknown };
    return typeof sqlMessage === 'string' ? sqlMessage : error.message;
  },
};
