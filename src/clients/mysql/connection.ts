/** What the store needs of a connection of either client package. */
import { Answer } from '../../base/answer.ts';
import type { TextRow } from '../sql/session.ts';
import type { WireTerms } from '../wire.ts';
import { numberOf } from './errors.ts';

export interface MysqlSession {
  /**
   * One round trip, of one or several statements; resolves with the rows of all, as texts. A
   * statement without rows gives a row of two words: the number of the insert, and how many rows it
   * has changed.
   */
  query(text: string): Promise<readonly TextRow[]>;
  /** The same for one statement that the server prepares once, with a value for each `?`. */
  execute(text: string, values: readonly string[]): Promise<readonly TextRow[]>;
  unref(): void;
  /** Says goodbye if it can, and closes soon. */
  end(): void;
}

export type ConnectMysql = (terms: Pick<WireTerms, 'signal' | 'lost'>) => Promise<MysqlSession>;

/** Overrides what the program has set for its own queries. */
export const AS_TEXT = {
  rowsAsArray: true,
  nestTables: false,
  namedPlaceholders: false,
  typeCast: (field: { string(): string | null }): string | null => field.string(),
};

export function rowsIn(results: unknown): readonly TextRow[] {
  if (!Array.isArray(results)) {
    const { insertId, affectedRows } = results as Readonly<Record<string, unknown>>;
    return [[String(insertId), String(affectedRows)]];
  }
  const all = results as readonly unknown[];
  // Rows are arrays themselves, but only the elements of a result are arrays as well.
  const several = all.some((each) => !isRow(each));
  return several ? all.flatMap((result) => rowsIn(result)) : (all as readonly TextRow[]);
}

function isRow(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && !Array.isArray(value[0]);
}

/** A text as the server reads it in any mode and character set: nothing in it needs escapes. */
export function literal(text: string): string {
  return text === '' ? "''" : `_utf8mb4 0x${Buffer.from(text).toString('hex')}`;
}

/** Too many are prepared (`max_prepared_stmt_count`), or the tables change faster than they are. */
const UNPREPARED: readonly (number | undefined)[] = [1461, 1615];

/** Executes a prepared statement, or one with the values in its text where none can be prepared. */
export function execute(
  { execute: prepared, query }: MysqlSession,
  text: string,
  values: readonly string[],
): Answer<readonly TextRow[]> {
  return Answer.from(prepared(text, values)).or((error) => {
    if (!UNPREPARED.includes(numberOf(error))) return Promise.reject(error);
    const left = values.map(literal);
    return query(text.replaceAll('?', () => left.shift() ?? '?'));
  });
}

/** Values of a prepared statement, which then do not depend on the character set of the client. */
export function bytesOf(values: readonly string[]): Buffer[] {
  return values.map((value) => Buffer.from(value));
}
