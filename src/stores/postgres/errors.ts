/**
 * What PostgreSQL's error codes and a client's connection errors mean to a caller.
 *
 * Each call is one transaction, so what the server refuses has not happened; only where it ends the
 * session, or the connection breaks, it may have committed before. A cause is a copy of code and
 * message: clients put statements and their values into their errors, and those contain claim ids.
 */
import { isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { copyOf, describe } from '../causes.ts';
import type { Judgement } from '../sql/wire.ts';

interface Meaning {
  readonly retryable: boolean;
  readonly advice: string;
  /** The session is of no use any more. */
  readonly broken?: true;
  /** Default: it has not happened. */
  readonly outcome?: 'unknown';
}

const MIGRATE =
  'has no tables of Holdfast in this schema, or older ones. Run' +
  ' `npx holdfast migrate --store postgres://…` with the same database and schema';

const ENDED: Meaning = {
  retryable: true,
  broken: true,
  outcome: 'unknown',
  advice: 'ended the session',
};

/** By SQLSTATE, or by its class, the first two characters. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['08', { ...ENDED, advice: 'lost the connection' }],
  [
    '25006',
    {
      retryable: true,
      broken: true,
      advice:
        'accepts no writes: it is, or was made, a standby. The store looks up the primary again',
    },
  ],
  ['26000', { retryable: true, broken: true, advice: 'does not know a prepared statement' }],
  [
    '28',
    {
      retryable: false,
      advice: 'does not let this user in. Check the user name, password and pg_hba.conf',
    },
  ],
  ['3D000', { retryable: false, advice: 'has no such database' }],
  ['3F000', { retryable: false, advice: MIGRATE }],
  ['40001', { retryable: true, advice: 'could not serialize this transaction with others' }],
  ['40P01', { retryable: true, advice: 'broke up a deadlock' }],
  [
    '42501',
    {
      retryable: false,
      advice: 'does not permit this user to do that. docs/stores/postgres.md has the grants needed',
    },
  ],
  ['42883', { retryable: false, advice: MIGRATE }],
  ['42P01', { retryable: false, advice: MIGRATE }],
  ['42P05', { retryable: true, broken: true, advice: 'already has a statement of that name' }],
  [
    '53300',
    { retryable: true, advice: 'has no connection left. Look at max_connections and at pools' },
  ],
  ['53', { retryable: true, advice: 'has run out of a resource. Look at its log' }],
  [
    '55P03',
    {
      retryable: true,
      advice:
        'could not lock a row in time. Look for a session that stays idle in a' +
        ' transaction on the tables of Holdfast',
    },
  ],
  ['57014', { retryable: true, advice: 'cancelled the statement, on request or at a time limit' }],
  ['57P03', { ...ENDED, advice: 'is just starting or stopping' }],
  ['57P04', { ...ENDED, retryable: false, advice: 'has dropped this database' }],
  ['57P', ENDED],
  ['58', { retryable: true, advice: 'has trouble with its files. Look at its log' }],
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
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|due to timeout/i,
    { retryable: true, advice: 'cannot be reached. Look at the network and at firewalls' },
  ],
  [
    /ERR_SSL|ERR_TLS|CERT|certificate|self.signed|wrong version number|EPROTO|SSL|tlsv1/i,
    {
      retryable: false,
      advice: "and the client do not agree on TLS. Check the client's ssl options and certificates",
    },
  ],
  [
    /password must be a string|SASL|Unknown authenticationOk/i,
    { retryable: false, advice: 'needs a password, or a different one. Check that of the client' },
  ],
];

const BROKEN: Meaning = { retryable: true, advice: 'broke the connection' };

export function judge(error: unknown, during: 'open' | 'call'): Judgement {
  if (isLockError(error, 'STORE')) return { error: error as StoreError, broken: false };
  const state = stateOf(error);
  const said = describe(error);
  const found = state === undefined ? breakOf(said) : meaningOf(state);
  const broken = state === undefined || found.broken === true;
  const unknown = state === undefined || found.outcome === 'unknown';
  return {
    broken,
    blocked: state === '55P03',
    error: new StoreError(`The PostgreSQL server ${found.advice} (${said}).`, {
      cause: copyOf(error instanceof Error ? error.name : 'Error', said),
      // A server that has worked before will most likely work again.
      retryable: found.retryable || (state === undefined && during === 'call'),
      outcome: unknown && during === 'call' ? 'unknown' : 'failed',
    }),
  };
}

/** The error of a server on which locks are impossible. */
export function impossible(why: string): StoreError {
  const message = `The PostgreSQL server cannot keep locks: ${why}.`;
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

/** The error of tables that are not those of this version. */
export function anotherLayout(found: string, known: number): StoreError {
  const newer =
    Number(found) > known ? 'newer; install the version of Holdfast that made it' : MIGRATE;
  const message = `The layout of the tables is ${found}, not ${known}: the server ${newer}.`;
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

/** The SQLSTATE, if this is a reply of the server: errors of the system have no severity. */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  const answered = typeof severity === 'string' && typeof code === 'string';
  return answered && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

function meaningOf(state: string): Meaning {
  for (const length of [5, 3, 2]) {
    const meaning = MEANINGS.get(state.slice(0, length));
    if (meaning) return meaning;
  }
  return REFUSED;
}

function breakOf(said: string): Meaning {
  return BREAKS.find(([sign]) => sign.test(said))?.[1] ?? BROKEN;
}
