/**
 * The verbs, each for one claim after the other, inside one write transaction.
 *
 * Invariant: a new claim's seq exceeds every seq that its resource has ever had. The clock is read
 * after the write lock was taken, so it is later than all readings under earlier write locks; a
 * queue that is ahead of the clock all the same is continued from its end. So tokens grow although
 * nothing is kept of an idle resource.
 * What would break it: a clock read before the write lock, or a base that is not the file's.
 */
import { sameQueue } from '../../contract/admission.ts';
import type { Claim, ClaimStatus, Holder, Kind, Member, Queue } from '../../contract/store.ts';
import { toText } from '../name-text.ts';
import type { Machine } from './machine.ts';
import { enterEmpty, leaveQuiet, renewQuiet } from './quiet.ts';
import { END, evictedFor, Rows, type Told, toUs, wasEvicted } from './rows.ts';
import type { Row, Statements } from './statements.ts';

interface Parts {
  readonly statements: Statements;
  readonly machine: Machine;
  /** The address at which this process listens. */
  readonly address: string;
  readonly maxWaiters: number;
  /** Longest queue that is read whole. */
  readonly readWhole: number;
  /** Claims of this process that were in a file which is gone. */
  readonly lost: Set<string>;
}

/** A dead holder without a successor stays for a day, so that the next claim learns of it. */
const KEEP_DEAD_US = 86_400_000_000;

export class Queues {
  readonly rows: Rows;
  readonly #parts: Parts;
  #base = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.rows = new Rows(parts.statements, parts);
  }

  /** Work that need not be done at every step. */
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

  /** True if a heartbeat would find that the claim holds; extends nothing. */
  holds(claim: Claim): boolean {
    const name = toText(claim.resource);
    const now = this.rows.tick();
    this.rows.settle(name, now);
    const row = this.rows.find(name, claim.id, now);
    return row?.admitted === 1 && !row.sealed;
  }

  downgrade(claim: Claim): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.rows.tick();
    this.rows.settle(name, now);
    const row = this.rows.find(name, claim.id, now);
    if (!row) return this.#missing(claim, now);
    if (row.kind !== 'write' || !row.admitted) return this.rows.statusOf(row, now);
    const reader = this.rows.downgrade(row);
    this.rows.settle(name, now, {});
    return this.rows.statusOf(reader, now);
  }

  evict(resource: string, number: bigint, how: { reason: string; now: boolean }): boolean {
    const name = toText(resource);
    const now = this.rows.tick();
    const { sql, told } = this.rows;
    this.rows.settle(name, now);
    const row = this.rows.of(name).at(Number(number));
    if (!row || row.expires <= now) return false;
    told.push(row);
    const sealed = evictedFor(how.reason);
    if (how.now || !row.admitted) {
      sql.bury.run(row.id, sealed, now + row.ttl);
      this.#end({ ...row, sealed }, now);
    } else this.rows.seal(row, sealed, row.expires);
    return true;
  }

  /** The texts of resources with live claims, in order, from one on. */
  names(from: string, count: number): string[] {
    const rows = this.rows.sql.names.all(from, this.#parts.machine.nowUs(), count);
    return (rows as { resource: string }[]).map((row) => row.resource);
  }

  /** The status of each named claim that is still there. */
  look(told: readonly Told[]): Map<Row, ClaimStatus> {
    const now = this.rows.tick();
    const rows = told.flatMap(({ resource, seq }) => this.rows.of(resource).at(seq) ?? []);
    return new Map(rows.map((row) => [row, this.rows.statusOf(row, now)]));
  }

  /** The addresses of processes with live claims. */
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
    if (buried) return buried;
    const { first, takeover, kept } = rows.settle(name, now);
    const kind = rows.of(name).kind(now) as Kind | undefined;
    if (kind && !sameQueue(kind, claim.kind)) {
      return { state: 'gone', why: 'mismatch', detail: `its queue holds ${kind} claims` };
    }
    const own = rows.find(name, claim.id, now);
    if (own) return rows.statusOf(own, now);
    const { used, lim } = rows.of(name).use(now, END);
    const fits = !first && used + claim.permits <= Math.min(lim, claim.limit);
    const refusal = fits ? undefined : this.#refuse(claim, now);
    if (refusal) return refusal;
    if (fits && kept !== undefined) rows.remove({ resource: name, seq: kept });
    const alone = !fits && !first;
    if (alone) rows.told.push(...rows.of(name).holders(now));
    const took = fits ? takeover : undefined;
    return this.#insert(claim, now, {
      admitted: fits ? 1 : 0,
      told: alone ? 1 : 0,
      took: took?.reason ?? null,
      took_seq: took ? Number(took.token) : null,
    });
  }

  /** Refuses a claim that must wait but does not want to, or finds no room. */
  #refuse(claim: Claim, now: number): ClaimStatus | undefined {
    if (!claim.queue) return { state: 'gone', why: 'refused' };
    const { maxWaiters } = this.#parts;
    const waiters = this.rows.of(toText(claim.resource)).waiters(now, maxWaiters);
    if (waiters < maxWaiters) return undefined;
    return { state: 'gone', why: 'full', detail: `maxWaiters is ${maxWaiters}` };
  }

  #insert(
    claim: Claim,
    now: number,
    standing: Pick<Row, 'admitted' | 'told' | 'took' | 'took_seq'>,
  ): ClaimStatus {
    const { id, kind, permits, limit: lim, holder } = claim;
    const resource = toText(claim.resource);
    const seq = Math.max(this.#base + now, this.rows.of(resource).last() + 1);
    const ttl = toUs(claim.ttlMs);
    const expires = now + ttl;
    const { address } = this.#parts;
    const { admitted, told, took, took_seq } = standing;
    const values = [resource, seq, id, kind, permits, lim, ttl, expires] as const;
    const rest = [address, admitted, told, took, took_seq] as const;
    this.rows.sql.enter.run(...values, JSON.stringify(holder), ...rest);
    const row: Row = {
      resource,
      seq,
      id,
      kind,
      permits,
      lim,
      ttl,
      expires,
      sealed: null,
      address,
      ...standing,
    };
    this.rows.added(row);
    return this.rows.statusOf(row, now);
  }

  #beat(claim: Claim, settled: Set<string>): ClaimStatus {
    const name = toText(claim.resource);
    const now = this.rows.tick();
    if (!settled.has(name)) this.rows.settle(name, now);
    settled.add(name);
    const row = this.rows.find(name, claim.id, now);
    if (!row) return this.#missing(claim, now);
    if (row.sealed) return this.rows.statusOf(row, now);
    return this.rows.statusOf(this.rows.extend(row, now + toUs(claim.ttlMs)), now);
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
    else if (!row.sealed) this.rows.seal(row, 'unknown', now + toUs(afterMs));
    return true;
  }

  /** Ends a claim at once. An evicted holder dies, not leaves, so that its successor knows. */
  #end(row: Row, now: number): void {
    const { resource, seq } = row;
    if (row.sealed && wasEvicted(row) && row.admitted) {
      this.rows.seal(row, row.sealed, now);
      this.rows.settle(resource, now);
      return;
    }
    this.rows.remove(row);
    const ended = { reason: 'released', token: BigInt(seq) } as const;
    this.rows.settle(resource, now, row.admitted ? { ended } : undefined);
  }

  #missing(claim: Claim, now: number): ClaimStatus {
    const lost = this.#parts.lost.has(claim.id) ? 'store-reset' : 'expired';
    this.#forget(claim);
    return this.rows.tombstone(claim.id, now) ?? { state: 'gone', why: lost };
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
