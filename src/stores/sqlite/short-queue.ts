/**
 * A queue of a few claims, read whole and once for each step. What the step changes in the file
 * it changes here too, so that no question needs another statement. Most queues are that short;
 * the others are asked piece by piece.
 */
import type { Row, Statements } from './statements.ts';

/** Longest queue that is read whole. */
const MOST = 16;

export class ShortQueue {
  readonly name: string;
  rows: readonly Row[];

  constructor(name: string, rows: readonly Row[]) {
    this.name = name;
    this.rows = rows;
  }

  /** Undefined if the queue is too long. */
  static read(sql: Statements, name: string): ShortQueue | undefined {
    const [{ rows: text }] = sql.start.all(name, MOST + 1) as [{ rows: string }];
    const rows = (JSON.parse(text) as Columns[]).map((columns) => rowOf(name, columns));
    return rows.length > MOST ? undefined : new ShortQueue(name, rows);
  }

  /** The live ones. */
  alive(now: number): readonly Row[] {
    return this.rows.filter((row) => row.expires > now);
  }

  change(seq: number, changes: Partial<Row>): void {
    this.rows = this.rows.map((row) => (row.seq === seq ? { ...row, ...changes } : row));
  }

  remove(goes: (row: Row) => boolean): void {
    this.rows = this.rows.filter((row) => !goes(row));
  }
}

type Columns = [
  ...[number, string, string, number, number, number, number, number, number],
  ...[string | null, string | null, number | null, string],
];

function rowOf(resource: string, columns: Columns): Row {
  const [seq, id, kind, permits, lim, ttl, expires, admitted, told] = columns;
  const [, , , , , , , , , sealed, took, tookSeq, address] = columns;
  return {
    ...{ resource, seq, id, kind, permits, lim, ttl, expires, admitted, told, sealed, took },
    ...{ took_seq: tookSeq, address },
  };
}
