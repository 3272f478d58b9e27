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

  constructor(sql: Statements, machine: Machine) {
    this.sql = sql;
    this.#machine = machine;
  }

  /** Reads the clock, in µs; no two readings of a process are alike. */
  tick(): number {
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
    const seq = this.seqs.get(id);
    const [known] = seq === undefined ? [] : (this.sql.bySeq.all(name, seq) as Row[]);
    if (known?.id === id) return known;
    const [row] = this.sql.byId.all(name, id) as Row[];
    if (row) this.seqs.set(id, row.seq);
    return row;
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
    if (until !== undefined) this.sql.removeDead.run(name, until, now, kept ?? -1);
    if (first && !first.told) this.#tellFirst(first);
    return { first, takeover, kept };
  }

  /** What the admitted before this seq use, and their limit. */
  use(name: string, now: number, before: number = END): Use {
    const [row] = this.sql.admitted.all(name, before, now) as [
      { used: number; lim: number | null },
    ];
    return { used: row.used, lim: row.lim ?? Number.POSITIVE_INFINITY };
  }

  waiters(name: string, now: number, most: number = MOST_COUNTED): number {
    return (this.sql.waiters.all(name, now, most) as [{ n: number }])[0].n;
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
    const [{ n: ahead }] = this.sql.ahead.all(resource, seq, now, MOST_COUNTED) as [{ n: number }];
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
    this.sql.admit.run(takeover?.reason ?? null, token, row.resource, row.seq);
    this.told.push(row);
  }

  #tellFirst(row: Row): void {
    this.sql.tell.run(row.resource, row.seq);
    this.told.push(row);
  }

  /** Waiters and dead claims in order, read a few at a time. */
  *#front(name: string, now: number): Generator<Row> {
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
    const [before] = this.sql.before.all(resource, seq, now) as Death[];
    if (!before) return Number.POSITIVE_INFINITY;
    if (!before.admitted) return before.expires;
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
