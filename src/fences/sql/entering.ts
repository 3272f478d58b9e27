/** An entry into a fence in SQL, as a series of statements. */
import type { FencingToken } from '../../contract/token.ts';
import type { FenceVerb } from '../fence.ts';
import { type SeenToken, stale } from '../rule.ts';
import type { FenceSql } from './dialects.ts';

export interface EntryStep {
  readonly sql: string;
  readonly values: readonly (string | Uint8Array)[];
  /** Whether it returns rows. */
  readonly brings: boolean;
}

/** Each step gets back its first row, if it returns any. */
export type Steps = Generator<EntryStep, void, unknown>;

/**
 * Writes first: two transactions that look for a missing row would keep each other from inserting
 * it. Where the write does not report whether it entered, reads the row, which is still locked.
 * @throws StaleTokenError
 */
export function* entering(sql: FenceSql, verb: FenceVerb, mine: FencingToken): Steps {
  const resource = sql.encode(mine.resource);
  const values = [resource, sql.encode(mine.lineage), String(mine.token)];
  const raise = mine.kind === 'read' ? sql.raiseFloor : sql.raise;
  const enter = verb === 'adopt' ? sql.adopt : raise;
  const entered = yield { sql: enter, values, brings: sql.returns };
  if (entered || verb === 'adopt') return;
  const row = yield { sql: sql.look, values: [resource], brings: true };
  const { lineage, token, floor } = row as Record<keyof SeenToken, string>;
  const seen = { lineage: sql.decode(lineage), token: BigInt(token), floor: BigInt(floor) };
  if (sql.returns || !isIn(seen, mine)) throw stale(mine, seen);
}

/** Whether the row shows this entry. */
function isIn(seen: SeenToken, { lineage, kind, token }: FencingToken): boolean {
  if (seen.lineage !== lineage) return false;
  return kind === 'read' ? seen.token <= token : seen.token === token && seen.floor <= token;
}
