import { Fifo } from '../base/fifo.ts';
import { admissible, limitOf, sameQueue } from '../contract/admission.ts';
import { endingOf } from '../contract/gone.ts';
import type { Claim, ClaimStatus, Kind, Member, Queue, Takeover } from '../contract/store.ts';
import type { Entry, QueueState } from './state.ts';

/** What has just happened to a queue: how a hold ended, or which claim enters. */
export interface Settling {
  readonly ended?: Takeover | undefined;
  readonly entering?: Entry | undefined;
}

/**
 * The claims on one resource: holders, then waiters, each in order of arrival. No step costs more
 * when more wait: it looks for dead claims among the holders and at the front, where they block
 * others, and finds those further back when their turn comes.
 */
export class Claims {
  readonly #holders = new Fifo<Entry>();
  readonly #waiters = new Fifo<Entry>();
  readonly #byId = new Map<string, Entry>();
  readonly #leftOut: QueueState['leftOut'];
  last: bigint;
  greatest: bigint;
  unfinished: Takeover | undefined;
  /** To be woken: admitted, first in line, evicted, or holders with their first waiter. */
  woken: Entry[] = [];
  /** How many ms later than `now` it may be: lives are counted from then, and end by `now`. */
  lead = 0;

  constructor({ last = 0n, greatest = 0n, unfinished, claims = [], leftOut }: QueueState) {
    this.last = last;
    this.greatest = greatest;
    this.unfinished = unfinished;
    this.#leftOut = leftOut;
    for (const entry of claims) this.push(entry);
  }

  get size(): number {
    return this.#byId.size;
  }

  get waiting(): number {
    return this.#waiters.size + (this.#leftOut?.count ?? 0);
  }

  find(id: string): Entry | undefined {
    return this.#byId.get(id);
  }

  *[Symbol.iterator](): Generator<Entry, void, void> {
    yield* this.#holders.all();
    yield* this.#waiters.all();
  }

  /** A live claim that cannot share a queue with this kind. */
  misfit(kind: Kind, now: number): Entry | undefined {
    const holder = firstAlive(this.#holders, now);
    const entry = holder ?? firstAlive(this.#waiters, now);
    return entry && !sameQueue(entry.kind, kind) ? entry : undefined;
  }

  push(entry: Entry): void {
    this.#byId.set(entry.id, entry);
    (entry.admitted ? this.#holders : this.#waiters).push(entry);
  }

  remove(entry: Entry): void {
    this.#byId.delete(entry.id);
    (entry.admitted ? this.#holders : this.#waiters).remove(entry);
  }

  /** The hold is this claim's from now on, in the same place, for a whole TTL. */
  pass(entry: Entry, { id, ttlMs, holder }: Claim, now: number): Entry {
    const life = { expiresAt: now + this.lead + ttlMs, lifeMs: ttlMs, beat: entry.beat + 1 };
    const anew = { sealed: undefined, takeover: undefined, previous: undefined, next: undefined };
    const passed: Entry = { ...entry, id, ttlMs, holder, ...life, ...anew };
    for (const each of this.#holders.all()) {
      this.remove(each);
      this.push(each === entry ? passed : each);
    }
    return passed;
  }

  /** A waiter keeps its number until it is admitted. */
  raise(holder: Entry, number: bigint): void {
    if (number > holder.number) holder.number = number;
    if (number > this.greatest) this.greatest = number;
    if (number > this.last) this.last = number;
  }

  /**
   * Buries the dead, admits the waiters that fit if `open`, and notifies exactly the admitted and
   * the new first waiter, but not `entering`, whose status is the reply.
   */
  settle(now: number, open: boolean, { ended, entering }: Settling = NOTHING): void {
    let takeover = ended ?? this.unfinished;
    for (let next = this.#holders.first; next; ) {
      const holder = next;
      next = holder.next;
      if (holder.expiresAt > now) continue;
      this.remove(holder);
      const reason = holder.sealed ? endingOf(holder.sealed) : 'expired';
      takeover = { reason, token: holder.number };
    }
    for (let first = this.#next(now); first; first = this.#next(now)) {
      if (!(open || first.trusts) || admissible(this.#holdersAnd(first)) === 0) break;
      this.#waiters.remove(first);
      this.#holders.push(first);
      first.admitted = true;
      if (first.number <= this.greatest) first.number = ++this.last;
      this.greatest = first.number;
      first.takeover = takeover;
      if (first !== entering) this.woken.push(first);
    }
    this.unfinished =
      this.#holders.size > 0 || takeover?.reason === 'released' ? undefined : takeover;
    const { first } = this.#waiters;
    if (!first || first.first) return;
    first.first = true;
    if (first !== entering) this.woken.push(first);
  }

  /** Wakes the first waiter, which has to ask at another time. */
  wakeNext(): void {
    const { first } = this.#waiters;
    if (first) this.woken.push(first);
  }

  /** Wakes the holders, because the first waiter has come. */
  wakeHolders(): void {
    this.woken.push(...this.#holders.all());
  }

  statusOf(entry: Entry, now: number, closedMs: number): ClaimStatus {
    if (entry.sealed) return entry.sealed;
    // Where lives end later than they are counted, a claim may be there that has none to count.
    const leftMs = Math.max(0, entry.expiresAt - now - this.lead);
    const inForce = limitOf(this.#holdersAnd(entry));
    const limit = inForce < entry.limit ? inForce : undefined;
    if (entry.admitted) {
      const { number: token, takeover } = entry;
      return { state: 'held', token, leftMs, waiters: this.waiting, takeover, limit };
    }
    const closed = closedMs > 0 && !entry.trusts;
    const why = closed ? 'data-loss' : 'queue';
    // Also removes dead claims before this one, which must not count.
    const diesInMs = this.#watchedUntil(entry, now) - now - this.lead;
    const retryInMs = closed ? closedMs : Math.max(diesInMs, this.lead / 4);
    return { state: 'waiting', leftMs, why, ahead: this.#ahead(entry), retryInMs, limit };
  }

  describe(now: number): Omit<Queue, 'resource'> {
    const all = [...this].filter((entry) => entry.expiresAt > now);
    const memberOf = ({ number, kind, permits, ttlMs, holder, expiresAt }: Entry): Member => {
      const leftMs = Math.max(expiresAt - (now + this.lead), 0);
      return { number, kind, permits, ttlMs, leftMs, holder };
    };
    const members = (admitted: boolean): Member[] =>
      all.filter((entry) => entry.admitted === admitted).map(memberOf);
    const limit = all.length > 0 ? limitOf(all) : undefined;
    return { limit, holders: members(true), waiters: members(false) };
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
    const all = this.#holders.size + this.waiting - 1;
    if (this.#leftOut && entry.number > this.#leftOut.after) return all;
    let ahead = this.#holders.size;
    let each = entry;
    for (let i = 0; each.previous && i < COUNTED; i++, ahead++) each = each.previous;
    return each.previous ? all : ahead;
  }

  /**
   * The first waiter waits for the earliest death of a holder, others for that of the claim before;
   * asking about a dead claim would never end, so it is removed.
   */
  #watchedUntil(entry: Entry, now: number): number {
    while (entry.previous && entry.previous.expiresAt <= now) this.remove(entry.previous);
    if (entry.previous) return entry.previous.expiresAt;
    return Math.min(...this.#holders.all().map((holder) => holder.expiresAt));
  }

  #holdersAnd(entry: Entry): Entry[] {
    return [...this.#holders.all(), entry];
  }
}

const NOTHING: Settling = {};

/** How far `ahead` is counted. */
const COUNTED = 100;

/** What a loss of data means to those who ask, in ms. */
export function lossOf(quarantineMs: number): { readonly quarantineMs?: number } {
  return quarantineMs > 0 ? { quarantineMs } : {};
}

/** Unlike a look at all, it costs no more when more wait behind. */
function firstAlive(line: Fifo<Entry>, now: number): Entry | undefined {
  let entry = line.first;
  while (entry && entry.expiresAt <= now) entry = entry.next;
  return entry;
}
