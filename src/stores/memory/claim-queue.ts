import { Fifo } from '../../base/fifo.ts';
import { admissible, limitOf, sameQueue } from '../../contract/admission.ts';
import type {
  ClaimStatus,
  GoneStatus,
  Holder,
  Kind,
  Member,
  Queue,
  Takeover,
} from '../../contract/store.ts';

/** A claim in a queue. */
export interface Entry {
  readonly id: string;
  number: bigint;
  readonly limit: number;
  readonly ttlMs: number;
  readonly holder: Holder;
  kind: Kind;
  permits: number;
  admitted: boolean;
  expiresAt: number;
  /** It knows that it is the first waiter. */
  first: boolean;
  /** Takes no more heartbeats: evicted, or released with `after`. */
  sealed: GoneStatus | undefined;
  takeover: Takeover | undefined;
  previous: Entry | undefined;
  next: Entry | undefined;
}

/** What has just happened to a queue: how a hold ended, or which claim enters. */
export interface Settling {
  readonly ended?: Takeover | undefined;
  readonly entering?: Entry;
}

/**
 * The claims on one resource: holders, then waiters, each in order of arrival. No step costs more
 * when more wait: it looks for dead claims among the holders and at the front, where they block
 * others, and finds those further back when their turn comes.
 */
export class ClaimQueue {
  readonly resource: string;
  readonly #holders = new Fifo<Entry>();
  readonly #waiters = new Fifo<Entry>();
  readonly #byId = new Map<string, Entry>();
  readonly #tell: (entry: Entry) => void;
  readonly #nextNumber: () => bigint;
  /** The greatest number admitted so far. */
  #greatest = 0n;
  /** How the last hold ended, as long as no claim has taken over the work that it left. */
  unfinished: Takeover | undefined;

  constructor(
    resource: string,
    parts: { readonly tell: (entry: Entry) => void; readonly nextNumber: () => bigint },
  ) {
    this.resource = resource;
    this.#tell = parts.tell;
    this.#nextNumber = parts.nextNumber;
  }

  get size(): number {
    return this.#byId.size;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  find(id: string): Entry | undefined {
    return this.#byId.get(id);
  }

  numbered(number: bigint): Entry | undefined {
    return [...this.#holders, ...this.#waiters].find((entry) => entry.number === number);
  }

  /** A live claim that cannot share a queue with this kind. */
  misfit(kind: Kind, now: number): Entry | undefined {
    for (const line of [this.#holders, this.#waiters]) {
      for (const entry of line) {
        if (entry.expiresAt <= now) continue;
        return sameQueue(entry.kind, kind) ? undefined : entry;
      }
    }
    return undefined;
  }

  push(entry: Entry): void {
    this.#byId.set(entry.id, entry);
    this.#waiters.push(entry);
  }

  remove(entry: Entry): void {
    this.#byId.delete(entry.id);
    (entry.admitted ? this.#holders : this.#waiters).remove(entry);
  }

  /** A waiter keeps its number until it is admitted. */
  raise(holder: Entry, number: bigint): void {
    if (number > holder.number) holder.number = number;
    if (number > this.#greatest) this.#greatest = number;
  }

  /**
   * Buries the dead, admits the waiters that fit if `open`, and notifies exactly the admitted and
   * the new first waiter, but not `entering`, whose status is the reply.
   */
  settle(now: number, { open, ended, entering }: Settling & { readonly open: boolean }): void {
    let takeover = ended ?? this.unfinished;
    for (const holder of this.#holders) {
      if (holder.expiresAt > now) continue;
      this.remove(holder);
      takeover = { reason: endOf(holder), token: holder.number };
    }
    for (let first = this.#next(now); first; first = this.#next(now)) {
      if (!open || admissible([...this.#holders, first]) === 0) break;
      this.#waiters.remove(first);
      this.#holders.push(first);
      first.admitted = true;
      if (first.number <= this.#greatest) first.number = this.#nextNumber();
      this.#greatest = first.number;
      first.takeover = takeover;
      if (first !== entering) this.#tell(first);
    }
    this.unfinished =
      this.#holders.size > 0 || takeover?.reason === 'released' ? undefined : takeover;
    const { first } = this.#waiters;
    if (!first || first.first) return;
    first.first = true;
    if (first !== entering) this.#tell(first);
  }

  /** Notifies the holders that the first waiter has come. */
  tellHolders(): void {
    for (const holder of this.#holders) this.#tell(holder);
  }

  statusOf(entry: Entry, now: number, quarantineMs: number): ClaimStatus {
    if (entry.sealed) return entry.sealed;
    const leftMs = entry.expiresAt - now;
    const inForce = limitOf([...this.#holders, entry]);
    const limit = inForce < entry.limit ? inForce : undefined;
    if (entry.admitted) {
      const { number: token, takeover } = entry;
      return { state: 'held', token, leftMs, waiters: this.waiting, takeover, limit };
    }
    const why = quarantineMs > 0 ? 'data-loss' : 'queue';
    // Also removes dead claims before this one, which must not count.
    const retryInMs = quarantineMs > 0 ? quarantineMs : this.#watchedUntil(entry, now) - now;
    return { state: 'waiting', leftMs, why, ahead: this.#ahead(entry), retryInMs, limit };
  }

  describe(now: number): Queue {
    const all = [...this.#holders, ...this.#waiters].filter((entry) => entry.expiresAt > now);
    return {
      resource: this.resource,
      limit: all.length > 0 ? limitOf(all) : undefined,
      holders: all.filter((entry) => entry.admitted).map((entry) => memberOf(entry, now)),
      waiters: all.filter((entry) => !entry.admitted).map((entry) => memberOf(entry, now)),
    };
  }

  /** The first live waiter; removes the dead ones before it. */
  #next(now: number): Entry | undefined {
    let { first } = this.#waiters;
    while (first && first.expiresAt <= now) {
      this.remove(first);
      first = this.#waiters.first;
    }
    return first;
  }

  /** Exact at the front, where it matters; further back all other waiters, without counting. */
  #ahead(entry: Entry): number {
    let ahead = this.#holders.size;
    let before = entry.previous;
    for (let i = 0; before && i < COUNTED; i++, ahead++) before = before.previous;
    return before ? this.#holders.size + this.waiting - 1 : ahead;
  }

  /**
   * The first waiter waits for the earliest death of a holder, others for that of the claim before;
   * asking about a dead claim would never end, so it is removed.
   */
  #watchedUntil(entry: Entry, now: number): number {
    while (entry.previous && entry.previous.expiresAt <= now) this.remove(entry.previous);
    if (entry.previous) return entry.previous.expiresAt;
    return Math.min(...[...this.#holders].map((holder) => holder.expiresAt));
  }
}

/** The status of a claim that has left. */
export const UNKNOWN: GoneStatus = { state: 'gone', why: 'unknown' };

/** How far `ahead` is counted. */
const COUNTED = 100;

function endOf(entry: Entry): Takeover['reason'] {
  if (entry.sealed?.why === 'evicted') return 'evicted';
  return entry.sealed ? 'released' : 'expired';
}

function memberOf(entry: Entry, now: number): Member {
  const { number, kind, permits, ttlMs, holder } = entry;
  return { number, kind, permits, ttlMs, leftMs: entry.expiresAt - now, holder };
}
