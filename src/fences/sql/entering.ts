/** An entry into a fence in SQL, as the statements that it consists of. */
import type { FencingToken } from '../../contract/token.ts';
import type { Verb } from '../fence.ts';
import { type Seen, stale } from '../rule.ts';
import type { FenceSql } from './dialects.ts';

export interface Step {
  readonly sql: string;
  readonly values: readonly (string | Uint8Array)[];
  /** Whether rows come back. */
  readonly brings: boolean;
}

/** What comes back of each step is its first row, if it brings any. */
export type Steps = Generator<Step, void, unknown>;

/**
 * The write comes first: two that look for a row that is missing would lock each other out of
 * inserting it. Where it does not tell whether it has entered, the row is looked at, still locked.
 * @throws StaleTokenError
 */
export function* entering(sql: FenceSql, verb: Verb, mine: FencingToken): Steps {
  const resource = sql.encode(mine.resource);
  const values = [resource, sql.encode(mine.lineage), String(mine.token)];
  const raise = mine.kind === 'read' ? sql.raiseFloor : sql.raise;
  const enter = verb === 'adopt' ? sql.adopt : raise;
  const entered = yield { sql: enter, values, brings: sql.tells };
  if (entered || verb === 'adopt') return;
  const row = yield { sql: sql.look, values: [resource], brings: true };
  const { lineage, token, floor } = row as Record<keyof Seen, string>;
  const seen = { lineage: sql.decode(lineage), token: BigInt(token), floor: BigInt(floor) };
  if (sql.tells || !isIn(seen, mine)) throw stale(mine, seen);
}

/** Whether this is what the row looks like after the entry. */
function isIn(seen: Seen, { lineage, kind, token }: FencingToken): boolean {
  if (seen.lineage !== lineage) return false;
  return kind === 'read' ? seen.token <= token : seen.token === token && seen.floor <= token;
}
