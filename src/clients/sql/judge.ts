/**
 * What a database's refusals and a client's connection errors mean to a store.
 *
 * Each call is one transaction, so what the server refuses has not happened; only where it ends the
 * session or stops a call half-way, or the connection breaks, it may have committed before. A cause
 * is a copy of code and message: clients put statements and their values into their errors, and
 * those contain claim ids.
 */
import { isLockError } from '../../base/errors.ts';
import { permanentFailure, StoreError, temporaryFailure } from '../../contract/errors.ts';
import { type Breaks, breakOf } from '../breaks.ts';
import { causeFrom, describe } from '../causes.ts';
import type { Judgement } from '../wire.ts';
import { failureOf, MIGRATE, PAGE, REPLICA } from './failures.ts';

export interface Database {
  readonly name: 'PostgreSQL' | 'MySQL';
  readonly scheme: 'postgres' | 'mysql';
  /** Where tables are, and what distinguishes those of several programs. */
  readonly place: string;
  readonly option: string;
  /** The server's code for the error; undefined if this is not a reply of the server. */
  codeOf(error: unknown): string | number | undefined;
  readonly breaks?: Breaks;
  /** Removes what the server and its clients repeat. */
  clean?(text: string): string;
}

const blocked = new WeakSet<object>();

/** Whether a row was locked for too long, and nothing happened. */
export function isBlocked(error: unknown): boolean {
  return blocked.has(error as object);
}

export function judgeAs(database: Database, error: unknown, during: 'open' | 'call'): Judgement {
  if (isLockError(error)) return { error: error as StoreError, broken: false };
  const code = database.codeOf(error);
  const failure = code === undefined ? undefined : failureOf(code);
  const said = describe(error, database.clean);
  const found = failure ?? breakOf(said, database.breaks);
  const unknown = !failure || failure.outcome === 'unknown';
  const advice = found.advice
    .replace(MIGRATE, migrate(database))
    .replace(PAGE, `node_modules/holdfast/docs/stores/${database.scheme}.md#permissions`);
  const judged = new StoreError(`The ${database.name} server ${advice} (${said}).`, {
    cause: causeFrom(error, said),
    // A server that has worked before will most likely work again.
    retryable: found.retryable || (!failure && during === 'call'),
    outcome: unknown && during === 'call' ? 'unknown' : 'failed',
  });
  if (failure?.reason === 'lock-timeout') blocked.add(judged);
  return { error: judged, broken: !failure || failure.broken === true, mute: found.mute };
}

export function impossible({ name }: Database, why: string): StoreError {
  return permanentFailure(`The ${name} server cannot keep locks: ${why}.`);
}

export function noPrimary({ name }: Database): StoreError {
  return temporaryFailure(`The ${name} server ${REPLICA}.`);
}

export function anotherLayout(database: Database, found: string, known: number): StoreError {
  const newer = 'newer; install the version of Holdfast that made it';
  const advice = Number(found) > known ? newer : migrate(database);
  const message = `The layout of the tables is ${found}, not ${known}: the server ${advice}.`;
  return permanentFailure(message);
}

function migrate({ scheme, place, option }: Database): string {
  return (
    `has no tables of Holdfast in this ${place}, or older ones. Run` +
    ` \`npx holdfast migrate --store ${scheme}://…\` with the same database and ${option}`
  );
}
