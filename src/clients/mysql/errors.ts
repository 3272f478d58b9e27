/**
 * What errors of MySQL and MariaDB and their clients mean to a store.
 *
 * Each call is rolled back before the server refuses it. An interrupted session may still be in its
 * transaction, so the store drops it.
 */
import { withoutSecrets } from '../causes.ts';
import { type Database, judgeAs } from '../sql/judge.ts';
import type { Judgement } from '../wire.ts';

export const MYSQL: Database = {
  name: 'MySQL',
  scheme: 'mysql',
  place: 'database',
  option: 'prefix',
  codeOf: numberOf,
  // Clients add the statement, and syntax errors quote it.
  clean: (text) => withoutSecrets(text.replace(/ near '.*$/s, '').replace(/\bsql: .*$/is, '')),
};

export function judge(error: unknown, during: 'open' | 'call'): Judgement {
  return judgeAs(MYSQL, error, during);
}

/** The server's error number, if it replied; clients number their own from 45,000 on. */
export function numberOf(error: unknown): number | undefined {
  const { errno, sqlState, syscall, fatal } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof errno !== 'number' || errno < 1000 || errno >= 45_000) return undefined;
  if (syscall !== undefined || typeof sqlState !== 'string') return undefined;
  // An error during connecting, such as too many connections, has no state.
  return sqlState !== '' || fatal !== undefined ? errno : undefined;
}
