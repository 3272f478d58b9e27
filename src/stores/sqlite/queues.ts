/**
 * The verbs, each for one claim after the other, inside one write transaction.
 *
 * Invariant: a new claim's seq exceeds every seq that its resource has ever had. The clock is read
 * after the write lock was taken, so it is later than all readings of those who had the lock before;
 * a queue that is ahead of the clock all the same is continued from its end. So tokens grow although
 * nothing is kept of an idle resource.
 * What would break it: a clock read before the write lock, or a base that is not the file's.
 */
import { sameQueue } from '../../admission.ts';
import type { Claim, ClaimStatus, Holder, Kind, Member, Queue } from '../../store.ts';
import type { Machine } from './machine.ts';
import { toText } from './names.ts';
import { enterEmpty, leaveQuiet, renewQuiet } from './quiet.ts';
import { Rows, type Told, toUs } from './rows.ts';
import type { Row, Statements } from './statements.ts';

interface Parts {
  readonly statements: Statements;
  readonly machine: Machine;
  /** Where this process listens. */
  readonly address: string;
  readonly maxWaiters: number;
  /** Claims of this process that were in a file which is gone. */
  readonly lost: Set<string>;
}

/** A dead holder whom nobody followed stays for a day, to tell its successor. */
const KEEP_DEAD_US = 86_400_000_000;

export class Queues {
  readonly rows: Rows;
  readonly #parts: Parts;
  #base = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.rows = new Rows(parts.statements, parts.machine);
  }

  /** What need not be done at every step. */
  sweep(): void {
    const now = this.rows.tick();
    const { sql } = this.rows;
    sql.refresh.run(now);
    sql.sweepTombstones.run(now);
    sql.sweepClaims.run(now - KEEP_DEAD_US);
    const rows = sql.ids.all(this.#parts.address) as { id: string }[];
    const ids = new Set(rows.map((row) => row.id));
    for (const known of [this.rows.seqs, this.rows.crowded]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
  }

  claim(claims: readonly Claim[]): ClaimStatus[] {
    const { seqs } = this.rows;
    const now = this.rows.tick();
    const seq = this.#base + now;
    const { address } = this.#parts;
    const entered = enterEmpty(this.rows, claims, { base: this.#base, now, address });
    if (entered.size < claims.length) this.#readBase();
    return claims.map((claim) => {
      if (!entered.has(claim.id) || seqs.get(claim.id) === seq) return this.#enter(claim);
      seqs.set(claim.id, seq);
      return { state: 'held', token: BigInt(seq), leftMs: claim.ttlMs, waiters: 0 };
    });
  }

  renew(claims: readonly Claim[]): ClaimStatus[] {
    const quiet = renewQuiet(this.rows, claims, this.rows.tick());
    const settled = new Set<string>();
    return claims.map((claim) => quiet.get(claim.id) ?? this.#beat(claim, settled));
  }

  release(claims: readonly Claim[], afterMs: number): boolean[] {
    const quiet = leaveQuiet(this.rows, afterMs > 0 ? [] : claims, this.rows.tick());
    return claims.map((claim) => {
      const left = quiet.delete(claim.id) || this.#leave(claim, afterMs);
      this.#forget(claim);
      return left;
    });
  }

  /** Leaves if nobody has to be told; one statement, outside of a transaction. */
  leaveAlone(claim: Claim): boolean {
    if (!leaveQuiet(this.rows, [claim], this.rows.tick()).has(claim.id)) return false;
    this.#forget(claim);
    return true;
  }

  inspect(resource: string): Queue {
    const name = toText(resource);
    const now = this.rows.tick();
    this.rows.settle(name, now);
    const rows = this.rows.sql.queue.all(name, now) as Described[];
    const limit = rows.length > 0 ? Math.min(...rows.map((row) => row.lim)) : undefined;
    const members = (admitted: number): Member[] =>
      rows.filter((row) => row.admitted === admitted).map((row) => memberOf(row, now));
    return { resource, limit, holders: members(1), waiters: members(0) };
  }

  downgrade(claim: Claim): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.rows.tick();
    this.rows.settle(name, now);
    const row = this.rows.find(name, claim.id, now);
    if (!row) return this.#missing(claim, now);
    if (row.kind !== 'write' || !row.admitted) return this.rows.statusOf(row, now);
    this.rows.sql.downgrade.run(name, row.seq);
    this.rows.settle(name, now, {});
    return this.rows.statusOf({ ...row, kind: 'read', permits: 1 }, now);
  }

  evict(resource: string, number: bigint, atOnce: boolean): boolean {
    const name = toText(resource);
    const now = this.rows.tick();
    const { sql, told } = this.rows;
    this.rows.settle(name, now);
    const [row] = sql.bySeq.all(name, Number(number)) as Row[];
    if (!row || row.expires <= now) return false;
    told.push(row);
    if (atOnce || !row.admitted) {
      sql.bury.run(row.id, 'evicted', now + row.ttl);
      this.#end({ ...row, sealed: 'evicted' }, now);
    } else sql.seal.run('evicted', row.expires, name, row.seq);
    return true;
  }

  /** The texts of resources with live claims, in order, from one on. */
  names(from: string, count: number): string[] {
    const rows = this.rows.sql.names.all(from, this.#parts.machine.nowUs(), count);
    return (rows as { resource: string }[]).map((row) => row.resource);
  }

  /** The status of each claim that is named, as far as it is still there. */
  look(told: readonly Told[]): Map<Row, ClaimStatus> {
    const now = this.#parts.machine.nowUs();
    const rows = told.flatMap(
      ({ resource, seq }) => this.rows.sql.bySeq.all(resource, seq) as Row[],
    );
    return new Map(rows.map((row) => [row, this.rows.statusOf(row, now)]));
  }

  /** Where live claims are listened for. */
  addresses(): Set<string> {
    const rows = this.rows.sql.addresses.all(this.#parts.machine.nowUs());
    return new Set((rows as { address: string }[]).map((row) => row.address));
  }

  #readBase(): void {
    this.#base = (this.rows.sql.base.all() as [{ base: number }])[0].base;
  }

  #enter(claim: Claim): ClaimStatus {
    const { rows } = this;
    const name = toText(claim.resource);
    const now = rows.tick();
    const buried = rows.tombstone(claim.id, now);
    if (buried) return { state: 'gone', why: buried };
    const [head] = rows.sql.firstKind.all(name, now) as { kind: Kind }[];
    if (head && !sameQueue(head.kind, claim.kind)) {
      return { state: 'gone', why: 'mismatch', detail: `its queue holds ${head.kind} claims` };
    }
    const { first, takeover, kept } = rows.settle(name, now);
    const own = rows.find(name, claim.id, now);
    if (own) return rows.statusOf(own, now);
    const { used, lim } = rows.use(name, now);
    const fits = !first && used + claim.permits <= Math.min(lim, claim.limit);
    const refusal = fits ? undefined : this.#refuse(claim, now);
    if (refusal) return refusal;
    if (fits && kept !== undefined) rows.sql.remove.run(name, kept);
    const alone = !fits && !first;
    if (alone) rows.told.push(...(rows.sql.holders.all(name, now) as Row[]));
    const took = fits ? takeover : undefined;
    return this.#insert(claim, now, [
      fits ? 1 : 0,
      alone ? 1 : 0,
      took?.reason ?? null,
      took ? Number(took.token) : null,
    ]);
  }

  /** A claim that would have to wait may not want to, or there may be no room. */
  #refuse(claim: Claim, now: number): ClaimStatus | undefined {
    if (!claim.queue) return { state: 'gone', why: 'refused' };
    const { maxWaiters } = this.#parts;
    if (this.rows.waiters(toText(claim.resource), now, maxWaiters) < maxWaiters) return undefined;
    return { state: 'gone', why: 'full', detail: `maxWaiters is ${maxWaiters}` };
  }

  /** `standing`: admitted, told, took, took_seq. */
  #insert(
    claim: Claim,
    now: number,
    standing: readonly [number, number, string | null, number | null],
  ): ClaimStatus {
    const { sql, seqs } = this.rows;
    const { id, kind, permits, limit, holder } = claim;
    const name = toText(claim.resource);
    const [last] = sql.lastSeq.all(name) as { seq: number | null }[];
    const seq = Math.max(this.#base + now, (last?.seq ?? 0) + 1);
    const ttl = toUs(claim.ttlMs);
    const values = [name, seq, id, kind, permits, limit, ttl, now + ttl] as const;
    sql.enter.run(...values, JSON.stringify(holder), this.#parts.address, ...standing);
    seqs.set(id, seq);
    return this.rows.statusOf((sql.bySeq.all(name, seq) as [Row])[0], now);
  }

  #beat(claim: Claim, settled: Set<string>): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.rows.tick();
    if (!settled.has(name)) this.rows.settle(name, now);
    settled.add(name);
    const row = this.rows.find(name, claim.id, now);
    if (!row) return this.#missing(claim, now);
    if (row.sealed) return this.rows.statusOf(row, now);
    const expires = now + toUs(claim.ttlMs);
    this.rows.sql.extend.run(expires, name, row.seq);
    return this.rows.statusOf({ ...row, expires }, now);
  }

  #leave(claim: Claim, afterMs: number): boolean {
    const name = toText(claim.resource);
    const now = this.rows.tick();
    const { sql } = this.rows;
    this.rows.settle(name, now);
    const row = this.rows.find(name, claim.id, now);
    if (!row || claim.unanswered) sql.bury.run(claim.id, 'unknown', now + toUs(claim.ttlMs));
    if (!row) return false;
    if (afterMs <= 0 || !row.admitted) this.#end(row, now);
    else if (!row.sealed) sql.seal.run('unknown', now + toUs(afterMs), name, row.seq);
    return true;
  }

  /** Ends a claim at once. One that was evicted dies rather than leaves, so that it is known. */
  #end(row: Row, now: number): void {
    const { resource, seq } = row;
    if (row.sealed === 'evicted' && row.admitted) {
      this.rows.sql.seal.run(row.sealed, now, resource, seq);
      this.rows.settle(resource, now);
      return;
    }
    this.rows.sql.remove.run(resource, seq);
    const ended = { reason: 'released', token: BigInt(seq) } as const;
    this.rows.settle(resource, now, row.admitted ? { ended } : undefined);
  }

  #missing(claim: Claim, now: number): ClaimStatus {
    const lost = this.#parts.lost.has(claim.id) ? 'store-reset' : 'expired';
    this.#forget(claim);
    return { state: 'gone', why: this.rows.tombstone(claim.id, now) ?? lost };
  }

  #forget({ id }: Claim): void {
    this.rows.seqs.delete(id);
    this.rows.crowded.delete(id);
    this.#parts.lost.delete(id);
  }
}

type Described = Row & { readonly holder: string };

function memberOf(row: Described, now: number): Member {
  return {
    number: BigInt(row.seq),
    kind: row.kind as Kind,
    permits: row.permits,
    ttlMs: row.ttl / 1000,
    leftMs: (row.expires - now) / 1000,
    holder: JSON.parse(row.holder) as Holder,
  };
}
