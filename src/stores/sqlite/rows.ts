/**
 * The rule of admission on the rows of one queue. Everything runs inside a write transaction.
 *
 * Invariant: the admitted claims are the front of a queue, and seq grows along it, so whoever is
 * admitted later has the higher token. A claim is dead once the clock has passed `expires`, whether
 * its row is still there or not; the step that touches a queue next buries the dead at its front
 * and admits who fits. It reads only as far as the first waiter that does not fit, because nobody
 * behind can be admitted before. The last dead holder stays as long as nobody holds, so that the
 * next one learns how that hold ended.
 * Nobody is woken here: `told` collects whom a step concerns, to be told after the commit.
 * What would break it: to admit past a waiter, or to wake somebody before the commit.
 */
import type { ClaimStatus, GoneReason, HeldStatus, Takeover } from '../../store.ts';
import type { Machine } from './machine.ts';
import { ShortQueue } from './short-queue.ts';
import type { Row, Statements } from './statements.ts';

/** A claim whose process should look at it. */
export type Told = Pick<Row, 'resource' | 'seq' | 'address'>;

interface Settled {
  /** The first waiter, which does not fit. */
  readonly first: Row | undefined;
  /** How the hold before the next one ended. */
  readonly takeover: Takeover | undefined;
  /** The dead holder that stays to tell of it. */
  readonly kept: number | undefined;
}

interface Use {
  readonly used: number;
  readonly lim: number;
}

/** Every seq is below this. */
const END = Number.MAX_SAFE_INTEGER;

/** Counting further than this helps nobody and costs everybody. */
const MOST_COUNTED = 100;

/** A hand-off concerns the one who is admitted and the next in line. */
const FIRST_PAGE = 3;
const NEXT_PAGES = 32;

export class Rows {
  told: Told[] = [];
  /** Where this process's claims stand; saves looking for them by id. */
  readonly seqs: Map<string, number> = new Map();
  /** Claims that hold while others wait, as far as it is known: they cannot leave quietly. */
  readonly crowded: Set<string> = new Set();
  readonly sql: Statements;
  readonly #machine: Machine;
  #now = 0;
  /** The queue of this step, if it is short; and the one that was found to be long. */
  #short: ShortQueue | undefined;
  #long: string | undefined;

  constructor(sql: Statements, machine: Machine) {
    this.sql = sql;
    this.#machine = machine;
  }

  /** Begins a step: reads the clock, in µs; no two readings of a process are alike. */
  tick(): number {
    this.#short = undefined;
    this.#long = undefined;
    const before = this.#now;
    do this.#now = this.#machine.nowUs();
    while (this.#now <= before);
    return this.#now;
  }

  /** The claim of this id, if it is alive. */
  find(name: string, id: string, now: number): Row | undefined {
    const row = this.row(name, id);
    return row && row.expires > now ? row : undefined;
  }

  /** The claim of this id, dead or alive. */
  row(name: string, id: string): Row | undefined {
    const short = this.short(name);
    const seq = this.seqs.get(id);
    const known = seq === undefined || short ? undefined : this.at(name, seq);
    if (known?.id === id) return known;
    const row = short
      ? short.rows.findLast((each) => each.id === id)
      : (this.sql.byId.all(name, id) as Row[])[0];
    if (row) this.seqs.set(id, row.seq);
    return row;
  }

  /** The claim at this place, dead or alive. */
  at(name: string, seq: number): Row | undefined {
    const short = this.short(name);
    if (short) return short.rows.find((row) => row.seq === seq);
    return (this.sql.bySeq.all(name, seq) as Row[])[0];
  }

  /** The whole queue, if it is short. */
  short(name: string): ShortQueue | undefined {
    if (this.#long === name) return undefined;
    if (this.#short?.name !== name) this.#short = ShortQueue.read(this.sql, name);
    if (!this.#short) this.#long = name;
    return this.#short;
  }

  /**
   * Buries the dead at the front of a queue, admits who fits, and notes whom that concerns.
   * `change`: somebody has just left, or takes less room. Otherwise, and as long as nobody has died,
   * a first waiter that was told so fits no better than it did then.
   */
  settle(name: string, now: number, change?: { readonly ended?: Takeover }): Settled {
    let takeover = change?.ended;
    let first: Row | undefined;
    let last: Row | undefined;
    let use: Use | undefined;
    const dead: Row[] = [];
    for (const row of this.#front(name, now)) {
      if (row.expires <= now) {
        dead.push(row);
        if (!row.admitted) continue;
        last = row;
        takeover = { reason: endOf(row), token: BigInt(row.seq) };
        continue;
      }
      first = row;
      if (row.told && !change && dead.length === 0) break;
      use = add(use ?? this.use(name, now, row.seq), row);
      if (use.used > use.lim) break;
      this.#admit(row, takeover);
      first = undefined;
    }
    const kept = last && this.#isUnfinished(last, now) ? last.seq : undefined;
    const buried = dead.filter((row) => row.seq !== kept);
    const until = buried.at(-1)?.seq;
    if (until !== undefined) this.#removeDead(name, now, { until, kept: kept ?? -1 });
    if (first && !first.told) this.#tellFirst(first);
    return { first, takeover, kept };
  }

  /** What the admitted before this seq use, and their limit. */
  use(name: string, now: number, before: number = END): Use {
    const short = this.short(name);
    if (short) {
      const admitted = short.alive(now).filter((row) => row.admitted && row.seq < before);
      return admitted.reduce(add, { used: 0, lim: Number.POSITIVE_INFINITY });
    }
    const [row] = this.sql.admitted.all(name, before, now) as [
      { used: number; lim: number | null },
    ];
    return { used: row.used, lim: row.lim ?? Number.POSITIVE_INFINITY };
  }

  waiters(name: string, now: number, most: number = MOST_COUNTED): number {
    const short = this.short(name);
    if (short) return short.alive(now).filter((row) => !row.admitted).length;
    return (this.sql.waiters.all(name, now, most) as [{ n: number }])[0].n;
  }

  holders(name: string, now: number): readonly Row[] {
    const short = this.short(name);
    if (short) return short.alive(now).filter((row) => row.admitted);
    return this.sql.holders.all(name, now) as Row[];
  }

  /** The kind of the first live claim. */
  kind(name: string, now: number): string | undefined {
    const short = this.short(name);
    const rows = short ? short.alive(now) : (this.sql.firstKind.all(name, now) as Row[]);
    return rows[0]?.kind;
  }

  /** The highest place, of the dead too; 0 for an empty queue. */
  last(name: string): number {
    const short = this.short(name);
    if (short) return short.rows.at(-1)?.seq ?? 0;
    return (this.sql.lastSeq.all(name) as { seq: number | null }[])[0]?.seq ?? 0;
  }

  /** After this row was inserted, the last of its queue. */
  added(row: Row): void {
    if (this.#short?.name !== row.resource) return;
    this.#short.rows = [...this.#short.rows, row];
  }

  remove({ resource, seq }: Pick<Row, 'resource' | 'seq'>): void {
    this.sql.remove.run(resource, seq);
    this.#short?.remove((row) => row.seq === seq);
  }

  extend(row: Row, expires: number): Row {
    this.sql.extend.run(expires, row.resource, row.seq);
    return this.#changed(row, { expires });
  }

  seal(row: Row, sealed: string, expires: number): Row {
    this.sql.seal.run(sealed, expires, row.resource, row.seq);
    return this.#changed(row, { sealed, expires });
  }

  downgrade(row: Row): Row {
    this.sql.downgrade.run(row.resource, row.seq);
    return this.#changed(row, { kind: 'read', permits: 1 });
  }

  statusOf(row: Row, now: number): ClaimStatus {
    if (row.sealed) return { state: 'gone', why: row.sealed as GoneReason };
    const { resource, seq } = row;
    const leftMs = (row.expires - now) / 1000;
    const limit = this.#limit(row, now);
    if (row.admitted) {
      const waiters = this.waiters(resource, now);
      if (waiters > 0) this.crowded.add(row.id);
      return heldStatus(row, leftMs, waiters, limit);
    }
    const ahead = this.#ahead(resource, seq, now);
    const retryInMs = (this.#nextDeath(row, now) - now) / 1000;
    return { state: 'waiting', leftMs, why: 'queue', ahead, retryInMs, limit };
  }

  tombstone(id: string, now: number): GoneReason | undefined {
    return (this.sql.tombstone.all(id, now) as { why: GoneReason }[])[0]?.why;
  }

  /** Its work may be half done, and nobody has taken it over. */
  #isUnfinished(row: Row, now: number): boolean {
    return endOf(row) !== 'released' && this.use(row.resource, now).used === 0;
  }

  #admit(row: Row, takeover: Takeover | undefined): void {
    const token = takeover ? Number(takeover.token) : null;
    const took = takeover?.reason ?? null;
    this.sql.admit.run(took, token, row.resource, row.seq);
    this.told.push(this.#changed(row, { admitted: 1, took, took_seq: token }));
  }

  #tellFirst(row: Row): void {
    this.sql.tell.run(row.resource, row.seq);
    this.told.push(this.#changed(row, { told: 1 }));
  }

  #changed(row: Row, changes: Partial<Row>): Row {
    if (this.#short?.name === row.resource) this.#short.change(row.seq, changes);
    return { ...row, ...changes };
  }

  #removeDead(name: string, now: number, { until, kept }: { until: number; kept: number }): void {
    this.sql.removeDead.run(name, until, now, kept);
    this.short(name)?.remove((row) => row.seq <= until && row.expires <= now && row.seq !== kept);
  }

  #ahead(name: string, seq: number, now: number): number {
    const short = this.short(name);
    if (short) return short.alive(now).filter((row) => row.seq < seq).length;
    return (this.sql.ahead.all(name, seq, now, MOST_COUNTED) as [{ n: number }])[0].n;
  }

  /** Waiters and dead claims in order, read a few at a time. */
  *#front(name: string, now: number): Generator<Row> {
    const short = this.short(name);
    if (short) return yield* short.rows.filter((row) => !row.admitted || row.expires <= now);
    let after = -1;
    for (let size = FIRST_PAGE; ; size = NEXT_PAGES) {
      const rows = this.sql.front.all(name, after, now, size) as Row[];
      yield* rows;
      if (rows.length < size) return;
      after = rows.at(-1)?.seq ?? END;
    }
  }

  /** The limit in force, if it is not the claim's own. Only those of permits may differ. */
  #limit({ kind, resource, lim }: Row, now: number): number | undefined {
    if (kind !== 'permits') return undefined;
    const inForce = this.use(resource, now).lim;
    return inForce < lim ? inForce : undefined;
  }

  /** The first waiter waits for the earliest death of a holder, others for that of the one before. */
  #nextDeath({ resource, seq }: Row, now: number): number {
    type Death = Pick<Row, 'admitted' | 'expires'>;
    const before = this.short(resource)
      ?.alive(now)
      .filter((row) => row.seq < seq);
    const last = before ? before.at(-1) : (this.sql.before.all(resource, seq, now) as Death[])[0];
    if (!last) return Number.POSITIVE_INFINITY;
    if (!last.admitted) return last.expires;
    if (before) return Math.min(...before.map((row) => row.expires));
    return (this.sql.firstDeath.all(resource, seq, now) as [Death])[0].expires;
  }
}

export function heldStatus(
  row: Pick<Row, 'seq' | 'took' | 'took_seq'>,
  leftMs: number,
  waiters: number,
  limit?: number,
): HeldStatus {
  const reason = row.took as Takeover['reason'] | null;
  const takeover = reason ? { reason, token: BigInt(row.took_seq ?? 0) } : undefined;
  return { state: 'held', token: BigInt(row.seq), leftMs, waiters, takeover, limit };
}

export function toUs(ms: number): number {
  return Math.ceil(ms * 1000);
}

function add({ used, lim }: Use, row: Row): Use {
  return { used: used + row.permits, lim: Math.min(lim, row.lim) };
}

function endOf(row: Row): Takeover['reason'] {
  if (row.sealed === 'evicted') return 'evicted';
  return row.sealed ? 'released' : 'expired';
}
