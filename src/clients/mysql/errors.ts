/**
 * What errors of MySQL and MariaDB and their clients mean to a store.
 *
 * Each call is rolled back before the server refuses it. An interrupted session may still be in its
 * transaction, so the store drops it.
 */
import { type Reading, withoutSecrets } from '../causes.ts';
import { failureOf } from '../sql/failures.ts';
import { type Database, type DatabaseErrors, judgeAs } from '../sql/judge.ts';
import type { Judgement } from '../wire.ts';

export const MYSQL: Database = {
  name: 'MySQL',
  scheme: 'mysql',
  place: 'database',
  option: 'prefix',
};

/** Clients add the statement, and syntax errors quote it. */
const READING: Reading = {
  clean: (text) => withoutSecrets(text.replace(/ near '.*$/s, '').replace(/\bsql: .*$/is, '')),
  messageOf: (error) => {
    const { sqlMessage } = error as { sqlMessage?: unknown };
    return typeof sqlMessage === 'string' ? sqlMessage : error.message;
  },
};

const ERRORS: DatabaseErrors = {
  ...MYSQL,
  failureOf: (error) => {
    const number = numberOf(error);
    return number === undefined ? undefined : failureOf(number);
  },
  reading: READING,
};

export function judge(error: unknown, during: 'open' | 'call'): Judgement {
  return judgeAs(ERRORS, error, during);
}

/** The server's error number, if it replied; clients number their own from 45,000 on. */
export function numberOf(error: unknown): number | undefined {
  const { errno, sqlState, syscall, fatal } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof errno !== 'number' || errno < 1000 || errno >= 45_000) return undefined;
  if (syscall !== undefined || typeof sqlState !== 'string') return undefined;
  // An error during connecting, such as too many connections, has no state.
  return sqlState !== '' || fatal !== undefined ? errno : undefined;
}
