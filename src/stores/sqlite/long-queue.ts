/**
 * The questions of the rule of admission about one queue; and a queue that is too long to be read
 * whole, which reads only as much as each question needs.
 */
import type { Row, Statements } from './statements.ts';

/** What the admitted claims use, and the limit that they set. */
export interface Use {
  readonly used: number;
  readonly lim: number;
}

/** Dead claims count as gone, except where a method names them. */
export interface QueueRows {
  /** Waiters and dead claims, in order. */
  front(now: number): Iterable<Row>;
  /** The claim at this place, dead or alive. */
  at(seq: number): Row | undefined;
  /** The claim of this id, dead or alive. */
  byId(id: string): Row | undefined;
  /** The highest place, of the dead too; 0 if there is none. */
  last(): number;
  /** The kind of the first claim. */
  kind(now: number): string | undefined;
  holders(now: number): readonly Row[];
  /** What the holders before a place use. */
  use(now: number, before: number): Use;
  /** How many wait; counted up to `most`. */
  waiters(now: number, most: number): number;
  /** How many stand before this place; an estimate. */
  ahead(seq: number, now: number): number;
  /** When the claim before dies or, for the first waiter, the first of the holders. */
  nextDeath(seq: number, now: number): number;
  /** Called after the file was changed like this. */
  added(row: Row): void;
  changed(seq: number, changes: Partial<Row>): void;
  removed(goes: (row: Row) => boolean): void;
}

/** Counting further would cost time and help no caller. */
export const MOST_COUNTED = 100;

/** A hand-off concerns the claim that is admitted and the next in line. */
const FIRST_PAGE = 3;
const NEXT_PAGES = 32;

type Death = Pick<Row, 'admitted' | 'expires'>;

export class LongQueue implements QueueRows {
  readonly #sql: Statements;
  readonly #name: string;

  constructor(sql: Statements, name: string) {
    this.#sql = sql;
    this.#name = name;
  }

  /** Reads a few at a time. */
  *front(now: number): Generator<Row> {
    let after = -1;
    for (let size = FIRST_PAGE; ; size = NEXT_PAGES) {
      const rows = this.#sql.front.all(this.#name, after, now, size) as Row[];
      yield* rows;
      if (rows.length < size) return;
      after = rows.at(-1)?.seq ?? after;
    }
  }

  at(seq: number): Row | undefined {
    return (this.#sql.bySeq.all(this.#name, seq) as Row[])[0];
  }

  byId(id: string): Row | undefined {
    return (this.#sql.byId.all(this.#name, id) as Row[])[0];
  }

  last(): number {
    return (this.#sql.lastSeq.all(this.#name) as [{ seq: number | null }])[0].seq ?? 0;
  }

  kind(now: number): string | undefined {
    return (this.#sql.firstKind.all(this.#name, now) as Row[])[0]?.kind;
  }

  holders(now: number): readonly Row[] {
    return this.#sql.holders.all(this.#name, now) as Row[];
  }

  use(now: number, before: number): Use {
    type Sums = [{ used: number; lim: number | null }];
    const [{ used, lim }] = this.#sql.admitted.all(this.#name, before, now) as Sums;
    return { used, lim: lim ?? Number.POSITIVE_INFINITY };
  }

  waiters(now: number, most: number): number {
    return (this.#sql.waiters.all(this.#name, now, most) as [{ n: number }])[0].n;
  }

  ahead(seq: number, now: number): number {
    return (this.#sql.ahead.all(this.#name, seq, now, MOST_COUNTED) as [{ n: number }])[0].n;
  }

  nextDeath(seq: number, now: number): number {
    const [before] = this.#sql.before.all(this.#name, seq, now) as Death[];
    if (!before) return Number.POSITIVE_INFINITY;
    if (!before.admitted) return before.expires;
    return (this.#sql.firstDeath.all(this.#name, seq, now) as [Death])[0].expires;
  }

  added(): void {}

  changed(): void {}

  removed(): void {}
}
