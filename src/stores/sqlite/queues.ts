/**
 * The verbs on queues, one claim after the other. Every method runs inside a write transaction.
 *
 * Invariant: the admitted claims are the front of a queue, and seq grows along it, so whoever is
 * admitted later has the higher token. The clock is read after the write lock was taken, never
 * twice alike, so seq also exceeds that of every claim which is gone from the file already. A claim
 * is dead once the clock passes `expires`, whether its row is still there or not; the step that
 * touches a queue next buries the dead at its front and admits who fits. It reads only as far as
 * the first waiter that does not fit, for nobody behind can be admitted before.
 * Nobody is woken here: `told` collects whom the step concerns, to be told after the commit.
 * What would break it: a clock read before the write lock, or to wake somebody before the commit.
 */
import { sameQueue } from '../../admission.ts';
import type {
  Claim,
  ClaimStatus,
  GoneReason,
  HeldStatus,
  Holder,
  Kind,
  Member,
  Queue,
  Takeover,
} from '../../store.ts';
import type { Machine } from './machine.ts';
import { toText } from './names.ts';
import type { Row, Statements } from './statements.ts';

/** A claim whose process should look at it. */
export type Told = Pick<Row, 'resource' | 'seq' | 'address'>;

interface Parts {
  readonly statements: Statements;
  readonly machine: Machine;
  /** Where this process listens. */
  readonly address: string;
  readonly maxWaiters: number;
}

interface Front {
  /** The first waiter, which does not fit. */
  readonly first: Row | undefined;
  readonly takeover: Takeover | undefined;
}

/** Every seq is below this. */
const END = Number.MAX_SAFE_INTEGER;

/** Counting further than this helps nobody and costs everybody. */
const MOST_COUNTED = 100;

/** A hand-off concerns the one admitted and the next in line. */
const FIRST_PAGE = 3;
const NEXT_PAGES = 32;

export class Queues {
  told: Told[] = [];
  /** Claims that were in a file which is gone. */
  readonly lost: Set<string>;
  readonly #parts: Parts;
  readonly #sql: Statements;
  /** Where this process's claims stand; saves looking for them by id. */
  readonly #seqs = new Map<string, number>();
  #now = 0;

  constructor(parts: Parts, lost: Set<string> = new Set()) {
    this.#parts = parts;
    this.#sql = parts.statements;
    this.lost = lost;
  }

  /** Claims of this process that are, or were, in this file or one before. */
  get known(): Set<string> {
    return new Set([...this.lost, ...this.#seqs.keys()]);
  }

  /** Whether this claim of this process stands there. */
  isAt(claim: Claim, told: Told): boolean {
    return this.#seqs.get(claim.id) === told.seq && toText(claim.resource) === told.resource;
  }

  /** Reads the clock; no two readings of a process are alike. */
  tick(): number {
    const before = this.#now;
    do this.#now = this.#parts.machine.nowUs();
    while (this.#now <= before);
    return this.#now;
  }

  /** What need not be done at every step. */
  sweep(deadBefore: number): void {
    const now = this.tick();
    this.#sql.refresh.run(now);
    this.#sql.sweepTombstones.run(now);
    this.#sql.sweepClaims.run(now - deadBefore);
  }

  claim(claims: readonly Claim[]): ClaimStatus[] {
    const base = this.#base();
    const entered = this.#enterEmpty(claims, base, this.tick());
    return claims.map((claim) => {
      const seq = entered.get(claim);
      if (seq === undefined) return this.#remember(claim, this.#enter(claim, base));
      this.#seqs.set(claim.id, seq);
      return { state: 'held', token: BigInt(seq), leftMs: claim.ttlMs, waiters: 0 };
    });
  }

  renew(claims: readonly Claim[]): ClaimStatus[] {
    const quiet = this.#renewQuiet(claims);
    const settled = new Set<string>();
    return claims.map(
      (claim) => quiet.get(claim.id) ?? this.#remember(claim, this.#beat(claim, settled)),
    );
  }

  release(claims: readonly Claim[], afterMs: number): boolean[] {
    const quiet = afterMs > 0 ? new Set<string>() : this.#leaveQuiet(claims);
    return claims.map((claim) => quiet.has(claim.id) || this.#leave(claim, afterMs));
  }

  inspect(resource: string): Queue {
    const name = toText(resource);
    const now = this.tick();
    this.#settle(name, now);
    const rows = this.#sql.queue.all(name, now) as (Row & { holder: string })[];
    const limit = rows.length > 0 ? Math.min(...rows.map((row) => row.lim)) : undefined;
    const members = (admitted: number): Member[] =>
      rows.filter((row) => row.admitted === admitted).map((row) => memberOf(row, now));
    return { resource, limit, holders: members(1), waiters: members(0) };
  }

  downgrade(claim: Claim): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.tick();
    this.#settle(name, now);
    const row = this.#find(name, claim.id, now);
    if (!row) return { state: 'gone', why: 'expired' };
    if (row.kind !== 'write' || !row.admitted) return this.#statusOf(row, now);
    this.#sql.downgrade.run(name, row.seq);
    this.#settle(name, now);
    return this.#statusOf({ ...row, kind: 'read', permits: 1 }, now);
  }

  evict(resource: string, number: bigint, atOnce: boolean): boolean {
    const name = toText(resource);
    const now = this.tick();
    this.#settle(name, now);
    const [row] = this.#sql.bySeq.all(name, Number(number)) as Row[];
    if (!row || row.expires <= now) return false;
    this.#sql.seal.run('evicted', row.expires, name, row.seq);
    this.told.push(row);
    if (atOnce || !row.admitted) {
      this.#sql.bury.run(row.id, 'evicted', now + row.ttl);
      this.#remove(row, 'evicted', now);
    }
    return true;
  }

  /** The texts of resources with live claims, in order, from one on. */
  names(from: string, count: number): string[] {
    const rows = this.#sql.names.all(from, this.#parts.machine.nowUs(), count);
    return (rows as { resource: string }[]).map((row) => row.resource);
  }

  /** The status of each claim that is named, as far as it is still there. */
  look(told: readonly Told[]): Map<Row, ClaimStatus> {
    const now = this.#parts.machine.nowUs();
    const notes = JSON.stringify(told.map(({ seq, resource }) => [seq, resource]));
    const rows = this.#sql.byNotes.all(notes) as Row[];
    return new Map(rows.map((row) => [row, this.#statusOf(row, now)]));
  }

  /** Where live claims are listened for. */
  addresses(): Set<string> {
    const rows = this.#sql.addresses.all(this.#parts.machine.nowUs()) as { address: string }[];
    return new Set(rows.map((row) => row.address));
  }

  #base(): number {
    return (this.#sql.base.all() as [{ base: number }])[0].base;
  }

  #enterEmpty(claims: readonly Claim[], base: number, now: number): Map<Claim, number> {
    const seq = base + now;
    const { address } = this.#parts;
    const [only] = claims;
    const able = claims.filter((claim) => claim.permits <= claim.limit);
    if (claims.length === 1 && only && able.length === 1) {
      const row = rowOf(only, seq, now);
      const { changes } = this.#sql.enterEmpty.run(...row, address, base, row[0], only.id);
      return new Map(changes ? [[only, seq]] : []);
    }
    const rows = JSON.stringify(able.map((claim) => rowOf(claim, seq, now)));
    const entered = this.#sql.enterEmptyAll.all(address, rows, base) as { id: string }[];
    const ids = new Set(entered.map((row) => row.id));
    return new Map(claims.filter(({ id }) => ids.delete(id)).map((claim) => [claim, seq]));
  }

  #enter(claim: Claim, base: number): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.tick();
    const buried = this.#tombstone(claim.id, now);
    if (buried) return { state: 'gone', why: buried };
    if (this.#find(name, claim.id, now)) {
      this.#settle(name, now);
      return this.#statusOf(this.#find(name, claim.id, now) as Row, now);
    }
    const [head] = this.#sql.firstKind.all(name, now) as { kind: Kind }[];
    if (head && !sameQueue(head.kind, claim.kind)) {
      return { state: 'gone', why: 'mismatch', detail: `its queue holds ${head.kind} claims` };
    }
    const { first, takeover } = this.#settle(name, now);
    const { used, lim } = this.#used(name, END, now);
    const fits = !first && used + claim.permits <= Math.min(lim, claim.limit);
    if (!fits && !claim.queue) return { state: 'gone', why: 'refused' };
    const { maxWaiters } = this.#parts;
    if (!fits && this.#waiters(name, now, maxWaiters) >= maxWaiters) {
      return { state: 'gone', why: 'full', detail: `maxWaiters is ${maxWaiters}` };
    }
    const [last] = this.#sql.lastSeq.all(name) as { seq: number | null }[];
    const seq = Math.max(base + now, (last?.seq ?? 0) + 1);
    const alone = fits || first ? 0 : 1;
    const took = fits ? takeover : undefined;
    this.#sql.enter.run(
      ...rowOf(claim, seq, now),
      this.#parts.address,
      fits ? 1 : 0,
      alone,
      took?.reason ?? null,
      took ? Number(took.token) : null,
    );
    if (alone) this.told.push(...(this.#sql.holders.all(name, now) as Row[]));
    return this.#statusOf((this.#sql.bySeq.all(name, seq) as [Row])[0], now);
  }

  #renewQuiet(claims: readonly Claim[]): Map<string, HeldStatus> {
    const now = this.tick();
    const known = claims.flatMap((claim) => {
      const seq = this.#seqs.get(claim.id);
      if (seq === undefined) return [];
      return [[toText(claim.resource), seq, claim.id, now + toUs(claim.ttlMs)]];
    });
    const rows = this.#sql.renewQuiet.all(JSON.stringify(known), now, now) as Row[];
    const renewed = new Map(rows.map((row) => [row.id, row]));
    const statuses = new Map<string, HeldStatus>();
    for (const { id, ttlMs } of claims) {
      const row = renewed.get(id);
      if (row) statuses.set(id, heldStatus(row, ttlMs, 0));
    }
    return statuses;
  }

  #beat(claim: Claim, settled: Set<string>): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.tick();
    if (!settled.has(name)) this.#settle(name, now);
    settled.add(name);
    const row = this.#find(name, claim.id, now);
    if (!row) {
      const lost = this.lost.has(claim.id) ? 'store-reset' : 'expired';
      return { state: 'gone', why: this.#tombstone(claim.id, now) ?? lost };
    }
    if (row.sealed) return this.#statusOf(row, now);
    const expires = now + toUs(claim.ttlMs);
    this.#sql.extend.run(expires, name, row.seq);
    return this.#statusOf({ ...row, expires }, now);
  }

  #leaveQuiet(claims: readonly Claim[]): Set<string> {
    const now = this.tick();
    const known = claims.flatMap((claim) => {
      const seq = this.#seqs.get(claim.id);
      if (seq === undefined || claim.unanswered) return [];
      return [[toText(claim.resource), seq, claim.id] as const];
    });
    const left = new Set<string>();
    const [only] = known;
    if (known.length === 1 && only) {
      const [name, seq, id] = only;
      const { changes } = this.#sql.leaveQuiet.run(name, seq, id, now, name, seq, now);
      if (changes) left.add(id);
    } else if (known.length > 1) {
      const rows = this.#sql.leaveQuietAll.all(JSON.stringify(known), now, now);
      for (const { id } of rows as { id: string }[]) left.add(id);
    }
    for (const id of left) this.#seqs.delete(id);
    return left;
  }

  #leave(claim: Claim, afterMs: number): boolean {
    const name = toText(claim.resource);
    const now = this.tick();
    this.#settle(name, now);
    const row = this.#find(name, claim.id, now);
    this.#seqs.delete(claim.id);
    this.lost.delete(claim.id);
    if (!row || claim.unanswered) this.#sql.bury.run(claim.id, 'unknown', now + toUs(claim.ttlMs));
    if (!row) return false;
    if (afterMs > 0 && row.admitted) {
      this.#sql.seal.run(row.sealed ?? 'unknown', now + toUs(afterMs), name, row.seq);
    } else {
      this.#remove(row, row.sealed === 'evicted' ? 'evicted' : 'released', now);
    }
    return true;
  }

  #remove(row: Row, reason: Takeover['reason'], now: number): void {
    this.#sql.remove.run(row.resource, row.seq);
    this.#settle(row.resource, now, row.admitted ? { reason, token: BigInt(row.seq) } : undefined);
  }

  /** Buries the dead at the front of a queue, admits who fits, and notes whom that concerns. */
  #settle(name: string, now: number, ended?: Takeover): Front {
    let takeover = ended;
    let first: Row | undefined;
    let room: { used: number; lim: number } | undefined;
    let lastDead = -1;
    for (const row of this.#front(name, now)) {
      if (row.expires <= now) {
        lastDead = row.seq;
        if (row.admitted && !ended) takeover = { reason: endOf(row), token: BigInt(row.seq) };
        continue;
      }
      room ??= this.#used(name, row.seq, now);
      room.lim = Math.min(room.lim, row.lim);
      room.used += row.permits;
      if (room.used > room.lim) {
        first = row;
        break;
      }
      this.#sql.admit.run(
        takeover?.reason ?? null,
        takeover ? Number(takeover.token) : null,
        name,
        row.seq,
      );
      this.told.push(row);
    }
    if (lastDead >= 0) this.#sql.removeDead.run(name, lastDead, now);
    if (first && !first.told) {
      this.#sql.tell.run(name, first.seq);
      this.told.push(first);
    }
    return { first, takeover };
  }

  /** Waiters and dead claims in order, read a few at a time. */
  *#front(name: string, now: number): Generator<Row> {
    let after = -1;
    for (let size = FIRST_PAGE; ; size = NEXT_PAGES) {
      const rows = this.#sql.front.all(name, after, now, size) as Row[];
      yield* rows;
      if (rows.length < size) return;
      after = rows.at(-1)?.seq ?? END;
    }
  }

  /** What the admitted before this seq use, and their limit. */
  #used(name: string, seq: number, now: number): { used: number; lim: number } {
    const rows = this.#sql.admitted.all(name, seq, now) as { used: number; lim: number | null }[];
    return { used: rows[0]?.used ?? 0, lim: rows[0]?.lim ?? Number.POSITIVE_INFINITY };
  }

  #find(name: string, id: string, now: number): Row | undefined {
    const seq = this.#seqs.get(id);
    const [known] = seq === undefined ? [] : (this.#sql.bySeq.all(name, seq) as Row[]);
    const [row] = known?.id === id ? [known] : (this.#sql.byId.all(name, id) as Row[]);
    return row && row.expires > now ? row : undefined;
  }

  #remember(claim: Claim, status: ClaimStatus): ClaimStatus {
    if (status.state === 'gone') {
      this.#seqs.delete(claim.id);
      this.lost.delete(claim.id);
    } else if (!this.#seqs.has(claim.id)) {
      const [row] = this.#sql.byId.all(toText(claim.resource), claim.id) as Row[];
      if (row) this.#seqs.set(claim.id, row.seq);
    }
    return status;
  }

  #tombstone(id: string, now: number): GoneReason | undefined {
    return (this.#sql.tombstone.all(id, now) as { why: GoneReason }[])[0]?.why;
  }

  #waiters(name: string, now: number, most: number): number {
    return (this.#sql.waiters.all(name, now, most) as [{ n: number }])[0].n;
  }

  #statusOf(row: Row, now: number): ClaimStatus {
    if (row.sealed) return { state: 'gone', why: row.sealed as GoneReason };
    const { resource, seq } = row;
    const leftMs = (row.expires - now) / 1000;
    const limit = this.#limit(row, now);
    if (row.admitted)
      return heldStatus(row, leftMs, this.#waiters(resource, now, MOST_COUNTED), limit);
    const [{ n: ahead }] = this.#sql.ahead.all(resource, seq, now, MOST_COUNTED) as [{ n: number }];
    const retryInMs = (this.#nextDeath(row, now) - now) / 1000;
    return { state: 'waiting', leftMs, why: 'queue', ahead, retryInMs, limit };
  }

  /** The limit in force, if it is not the claim's own. Only permits have limits that may differ. */
  #limit(row: Row, now: number): number | undefined {
    if (row.kind !== 'permits') return undefined;
    const [found] = this.#sql.limit.all(row.resource, row.seq, now) as { lim: number | null }[];
    return found?.lim != null && found.lim < row.lim ? found.lim : undefined;
  }

  /** The first waiter waits for the earliest death among the holders, others for the one before. */
  #nextDeath({ resource, seq }: Row, now: number): number {
    type Death = { admitted: number; expires: number };
    const [before] = this.#sql.before.all(resource, seq, now) as Death[];
    if (!before) return Number.POSITIVE_INFINITY;
    if (!before.admitted) return before.expires;
    return (this.#sql.firstDeath.all(resource, seq, now) as [Death])[0].expires;
  }
}

function rowOf(claim: Claim, seq: number, now: number) {
  const ttl = toUs(claim.ttlMs);
  const { resource, id, kind, permits, limit, holder } = claim;
  const name = toText(resource);
  return [name, seq, id, kind, permits, limit, ttl, now + ttl, JSON.stringify(holder)] as const;
}

function heldStatus(
  row: Pick<Row, 'seq' | 'took' | 'took_seq'>,
  leftMs: number,
  waiters: number,
  limit?: number,
): HeldStatus {
  const reason = row.took as Takeover['reason'] | null;
  const takeover = reason ? { reason, token: BigInt(row.took_seq ?? 0) } : undefined;
  return { state: 'held', token: BigInt(row.seq), leftMs, waiters, takeover, limit };
}

function memberOf(row: Row & { holder: string }, now: number): Member {
  return {
    number: BigInt(row.seq),
    kind: row.kind as Kind,
    permits: row.permits,
    ttlMs: row.ttl / 1000,
    leftMs: (row.expires - now) / 1000,
    holder: JSON.parse(row.holder) as Holder,
  };
}

function endOf(row: Row): Takeover['reason'] {
  if (row.sealed === 'evicted') return 'evicted';
  return row.sealed ? 'released' : 'expired';
}

function toUs(ms: number): number {
  return Math.ceil(ms * 1000);
}
