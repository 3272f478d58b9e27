/** How libraries of other languages keep a lock: as one row of a table, without a queue. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import type { ColumnNeed } from '../../clients/sql/columns.ts';
import type { Claim, Holder } from '../../contract/store.ts';

export interface RowLayout {
  readonly name: string;
  /** As the library writes it: without quotes, so that the database treats its case alike. */
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** The longest value of each. */
  readonly keyRoom: readonly number[];
  /** Their values for a lock of this name. @throws UsageError if there is no room for it. */
  keyOf(resource: string): readonly string[];
  /** The column that says who holds. */
  readonly holder: string;
  readonly holderRoom: number;
  /** What a claim writes there: no other claim ever writes the same. */
  writes(claim: Claim): string;
  /** The value once the claim has been released but its row is kept: it is renewed no longer. */
  leavesBehind(claim: Claim): string;
  /** The holder as that column shows it. */
  holderOf(holder: string): Pick<Holder, 'host' | 'pid'>;
  /** The column with the end of the lease. */
  readonly until: string;
  /** How much later than that column's moment the lease ends, in ms. */
  readonly addsMs: number;
  /** The column with the moment at which it was taken, if there is one. */
  readonly since?: string;
  /** Whether the row stays when the lock is free. */
  readonly stays: boolean;
}

/** What its table must be like. */
export function needsOf(layout: RowLayout): readonly ColumnNeed[] {
  const { key, keyRoom, holder, holderRoom, until, since } = layout;
  return [
    ...key.map((column, n): ColumnNeed => {
      return { column, kind: 'text', room: keyRoom[n] ?? 0, key: true };
    }),
    { column: holder, kind: 'text', room: holderRoom },
    { column: until, kind: 'moment' },
    ...(since === undefined ? [] : [{ column: since, kind: 'shown' } as const]),
  ];
}

const TABLE = /^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)?$/;

/** A table, perhaps with its schema, whose name needs no quotes. */
export function plainTable(name: string, what: string): string {
  if (typeof name === 'string' && TABLE.test(name) && name.length <= 127) return name;
  const good = 'letters, digits, _ and $, perhaps after a schema and a dot';
  throw new UsageError(`${what} must be a plain name (${good}), not ${show(name)}.`);
}

/** A text for a column of this many characters, which some databases would truncate silently. */
export function fitting(text: string, most: number, what: string): string {
  const { length } = [...text];
  if (length > 0 && length <= most && !text.includes('\0')) return text;
  const found = length > most ? `${length} characters` : show(text);
  throw new UsageError(`${what} has room for 1 to ${most} characters without NUL, not ${found}.`);
}
