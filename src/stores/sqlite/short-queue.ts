/**
 * A queue of a few claims, read whole and once for each step. It follows what the step changes in
 * the file, so that no question needs another statement. Most queues are that short.
 */
import type { QueueRows, Use } from './long-queue.ts';
import type { Row, Statements } from './statements.ts';

type Columns = [
  number,
  string,
  string,
  number,
  number,
  number,
  number,
  number,
  number,
  string | null,
  string | null,
  number | null,
  string,
];

export class ShortQueue implements QueueRows {
  #rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  /** Undefined if the queue is too long. */
  static read(sql: Statements, name: string, most: number): ShortQueue | undefined {
    const [{ rows: text }] = sql.start.all(name, most + 1) as [{ rows: string }];
    const rows = (JSON.parse(text) as Columns[]).map((columns) => rowOf(name, columns));
    return rows.length > most ? undefined : new ShortQueue(rows);
  }

  front(now: number): readonly Row[] {
    return this.#rows.filter((row) => !row.admitted || row.expires <= now);
  }

  at(seq: number): Row | undefined {
    return this.#rows.find((row) => row.seq === seq);
  }

  byId(id: string): Row | undefined {
    return this.#rows.findLast((row) => row.id === id);
  }

  last(): number {
    return this.#rows.at(-1)?.seq ?? 0;
  }

  kind(now: number): string | undefined {
    return this.#alive(now)[0]?.kind;
  }

  holders(now: number): readonly Row[] {
    return this.#alive(now).filter((row) => row.admitted);
  }

  use(now: number, before: number): Use {
    const rows = this.holders(now).filter((row) => row.seq < before);
    return {
      used: rows.reduce((sum, row) => sum + row.permits, 0),
      lim: Math.min(...rows.map((row) => row.lim)),
    };
  }

  waiters(now: number): number {
    return this.#alive(now).filter((row) => !row.admitted).length;
  }

  ahead(seq: number, now: number): number {
    return this.#before(seq, now).length;
  }

  nextDeath(seq: number, now: number): number {
    const before = this.#before(seq, now);
    const last = before.at(-1);
    if (last && !last.admitted) return last.expires;
    return Math.min(...before.map((row) => row.expires));
  }

  added(row: Row): void {
    this.#rows = [...this.#rows, row];
  }

  changed(seq: number, changes: Partial<Row>): void {
    this.#rows = this.#rows.map((row) => (row.seq === seq ? { ...row, ...changes } : row));
  }

  removed(goes: (row: Row) => boolean): void {
    this.#rows = this.#rows.filter((row) => !goes(row));
  }

  #alive(now: number): readonly Row[] {
    return this.#rows.filter((row) => row.expires > now);
  }

  #before(seq: number, now: number): readonly Row[] {
    return this.#alive(now).filter((row) => row.seq < seq);
  }
}

function rowOf(resource: string, columns: Columns): Row {
  const [seq, id, kind, permits, lim, ttl, expires, admitted, told] = columns;
  const [, , , , , , , , , sealed, took, tookSeq, address] = columns;
  return {
    resource,
    seq,
    id,
    kind,
    permits,
    lim,
    ttl,
    expires,
    admitted,
    told,
    sealed,
    took,
    took_seq: tookSeq,
    address,
  };
}
