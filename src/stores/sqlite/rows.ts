/**
 * The rule of admission on the rows of a queue. Everything runs inside a transaction.
 *
 * Invariant: the admitted claims are the front of a queue, and seq grows along it, so a claim that
 * is admitted later has the higher token. A claim is dead once the clock has passed `expires`, even
 * if its row is still there; the next step that touches a queue buries the dead at its front and
 * admits the waiters that fit. It looks only as far as the first waiter that does not fit, because
 * no claim behind can be admitted before. The last dead holder stays as long as no claim holds, so
 * that the next one learns how that hold ended.
 * Nothing here wakes a claim: `told` collects those to be woken after the commit.
 * What would break it: admitting past a waiter, or waking a claim before the commit.
 */
import type {
  ClaimStatus,
  GoneReason,
  GoneStatus,
  HeldStatus,
  Takeover,
} from '../../contract/store.ts';
import { LongQueue, MOST_COUNTED, type QueueRows, type Use } from './long-queue.ts';
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
  /** The dead holder that stays as a record of that. */
  readonly kept: number | undefined;
}

/** Every seq is below this. */
export const END: number = Number.MAX_SAFE_INTEGER;

export class Rows {
  told: Told[] = [];
  /** The places of this process's claims; saves looking for them by id. */
  readonly seqs: Map<string, number> = new Map();
  /** Claims that hold while others wait, as far as it is known: they cannot leave quietly. */
  readonly crowded: Set<string> = new Set();
  readonly sql: Statements;
  readonly #machine: Machine;
  readonly #readWhole: number;
  #now = 0;
  /** The queue that was asked last, as it is now. */
  #name = '';
  #queue: QueueRows | undefined;

  constructor(sql: Statements, parts: { readonly machine: Machine; readonly readWhole: number }) {
    this.sql = sql;
    this.#machine = parts.machine;
    this.#readWhole = parts.readWhole;
  }

  /** Begins a step: reads the clock, in µs; no two readings of a process are alike. */
  tick(): number {
    this.#queue = undefined;
    const before = this.#now;
    do this.#now = this.#machine.nowUs();
    while (this.#now <= before);
    return this.#now;
  }

  of(name: string): QueueRows {
    if (this.#name === name && this.#queue) return this.#queue;
    this.#name = name;
    const short = ShortQueue.read(this.sql, name, this.#readWhole);
    this.#queue = short ?? new LongQueue(this.sql, name);
    return this.#queue;
  }

  /** The claim of this id, if it is alive. */
  find(name: string, id: string, now: number): Row | undefined {
    const seq = this.seqs.get(id);
    const known = seq === undefined ? undefined : this.of(name).at(seq);
    const row = known?.id === id ? known : this.of(name).byId(id);
    if (row) this.seqs.set(id, row.seq);
    return row && row.expires > now ? row : undefined;
  }

  /**
   * Buries the dead at the front of a queue, admits the waiters that fit, and notes the claims
   * concerned. `change`: a claim has just left, or takes less room. Otherwise, as long as none has
   * died, a first waiter that knows its place fits no better than it did then.
   */
  settle(name: string, now: number, change?: { readonly ended?: Takeover }): Settled {
    const queue = this.of(name);
    let takeover = change?.ended;
    let first: Row | undefined;
    let last: Row | undefined;
    let use: Use | undefined;
    const dead: Row[] = [];
    for (const row of queue.front(now)) {
      if (row.expires <= now) {
        dead.push(row);
        if (row.admitted) last = row;
        if (row.admitted) takeover = { reason: endOf(row), token: BigInt(row.seq) };
        continue;
      }
      first = row;
      if (row.told && !change && dead.length === 0) break;
      const { used, lim } = use ?? queue.use(now, row.seq);
      use = { used: used + row.permits, lim: Math.min(lim, row.lim) };
      if (use.used > use.lim) break;
      this.#admit(row, takeover);
      first = undefined;
    }
    const unfinished = last && endOf(last) !== 'released' && queue.use(now, END).used === 0;
    const kept = unfinished ? last?.seq : undefined;
    const until = dead.findLast((row) => row.seq !== kept)?.seq;
    if (until !== undefined) this.#bury(name, now, { until, kept: kept ?? -1 });
    if (first && !first.told) this.#tellFirst(first);
    return { first, takeover, kept };
  }

  /** Called after this row was inserted, as the last of its queue. */
  added(row: Row): void {
    this.seqs.set(row.id, row.seq);
    this.of(row.resource).added(row);
  }

  remove({ resource, seq }: Pick<Row, 'resource' | 'seq'>): void {
    this.sql.remove.run(resource, seq);
    this.of(resource).removed((row) => row.seq === seq);
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
    if (row.sealed) return goneAs(row.sealed);
    const queue = this.of(row.resource);
    const leftMs = (row.expires - now) / 1000;
    // Only the limits of permits may differ.
    const inForce = row.kind === 'permits' ? queue.use(now, END).lim : row.lim;
    const limit = inForce < row.lim ? inForce : undefined;
    if (row.admitted) {
      const waiters = queue.waiters(now, MOST_COUNTED);
      if (waiters > 0) this.crowded.add(row.id);
      return heldStatus(row, leftMs, waiters, limit);
    }
    const ahead = queue.ahead(row.seq, now);
    const retryInMs = (queue.nextDeath(row.seq, now) - now) / 1000;
    return { state: 'waiting', leftMs, why: 'queue', ahead, retryInMs, limit };
  }

  tombstone(id: string, now: number): GoneStatus | undefined {
    const [tombstone] = this.sql.tombstone.all(id, now) as { why: string }[];
    return tombstone && goneAs(tombstone.why);
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

  #bury(name: string, now: number, { until, kept }: { until: number; kept: number }): void {
    this.sql.removeDead.run(name, until, now, kept);
    this.of(name).removed((row) => row.seq <= until && row.expires <= now && row.seq !== kept);
  }

  #changed(row: Row, changes: Partial<Row>): Row {
    this.of(row.resource).changed(row.seq, changes);
    return { ...row, ...changes };
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

/** Why it is gone, as the file keeps it: a reason, and perhaps a space and a detail in JSON. */
function goneAs(text: string): GoneStatus {
  const space = text.indexOf(' ');
  if (space < 0) return { state: 'gone', why: text as GoneReason };
  const detail = JSON.parse(text.slice(space)) as string;
  return { state: 'gone', why: text.slice(0, space) as GoneReason, detail };
}

export function evictedFor(reason: string): string {
  return `evicted ${JSON.stringify(reason)}`;
}

export function wasEvicted(row: Pick<Row, 'sealed'>): boolean {
  return row.sealed?.startsWith('evicted') ?? false;
}

export function toUs(ms: number): number {
  return Math.ceil(ms * 1000);
}

function endOf(row: Row): Takeover['reason'] {
  if (wasEvicted(row)) return 'evicted';
  return row.sealed ? 'released' : 'expired';
}
