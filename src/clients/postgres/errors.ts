/** What errors of PostgreSQL and its clients mean to a store. */
import { failureOf } from '../sql/failures.ts';
import { type Database, judgeAs } from '../sql/judge.ts';
import type { Judgement } from '../wire.ts';

const PASSWORD = /password must be a string|SASL|Unknown authenticationOk/i;

export const POSTGRES: Database = {
  name: 'PostgreSQL',
  scheme: 'postgres',
  place: 'schema',
  option: 'schema',
  codeOf: stateOf,
  breaks: [[PASSWORD, 'never', 'needs a password, or a different one. Check that of the client']],
};

export function judge(error: unknown, during: 'open' | 'call'): Judgement {
  return judgeAs(POSTGRES, error, during);
}

/** True if the server has replied that it refuses the statement, and goes on. */
export function isReply(error: unknown): boolean {
  const state = stateOf(error);
  return state !== undefined && failureOf(state).broken !== true;
}

/** The SQLSTATE, if this is a reply of the server: errors of the system have no severity. */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  const answered = typeof severity === 'string' && typeof code === 'string';
  return answered && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
