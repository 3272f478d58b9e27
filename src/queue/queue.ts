/**
 * The queue of claims on one resource: all verbs of the contract as steps on a plain value.
 *
 * Invariant: claims are in order of arrival, the admitted ones in front, and every step ends by
 * settling them: dead claims are out of the way and all claims that fit are admitted. A step looks
 * at no clock and waits for nothing: time comes in as a number, and who is to be woken is left
 * for `takeTold`. So a store has only to make steps one at a time, each on the queue that the step
 * before left: in memory, in a transaction, or by writing a text on the condition that it is still
 * the one that was read. Numbers count arrivals, and admission goes in that order, so tokens grow
 * from holder to holder. A dead holder is looked for only when a step touches its queue, so that
 * the next claim learns how the hold before it ended.
 * What would break it: a step on a queue that another step has left behind, or a `now` that is
 * later than the time by which a holder counts its lease.
 */
import { endingOf, full, HANDED_OVER, mismatch, RESUMED, UNKNOWN } from '../contract/gone.ts';
import type {
  Claim,
  ClaimStatus,
  Eviction,
  GoneStatus,
  HandOver,
  Kept,
  Queue,
  RecordTerms,
} from '../contract/store.ts';
import { Claims, lossOf, type Settling } from './claims.ts';
import { fromJson, type QueueJson, toJson } from './json.ts';
import { Remains } from './remains.ts';
import { type Entering, type Entry, entryOf, type QueueState, type WholeState } from './state.ts';

/**
 * The claims on one resource, for stores in JavaScript: enter, beat and the other verbs, each a
 * step that changes it and returns the reply. It has no clock and does no input or output.
 *
 * @example
 * import { ClaimQueue } from 'holdfast/store';
 *
 * const queue = new ClaimQueue();
 * const again = ClaimQueue.from(JSON.parse(JSON.stringify(queue)));
 * console.log(again.size); // 0
 */
export class ClaimQueue {
  readonly #claims: Claims;
  readonly #remains: Remains;
  readonly #closedUntil: number;

  constructor(state: QueueState = {}) {
    this.#claims = new Claims(state);
    this.#remains = new Remains(state);
    this.#closedUntil = state.closedUntil ?? Number.NEGATIVE_INFINITY;
  }

  /** @throws StoreError unless it is what `toJSON` returned. */
  static from(json: unknown): ClaimQueue {
    return new ClaimQueue(fromJson(json));
  }

  /**
   * How many ms later than the `now` of the next steps it may be: lives are counted from then, and
   * end by `now`. 0 at first; no part of the state.
   */
  set lead(ms: number) {
    this.#claims.lead = ms;
  }

  /** The claim with this id, dead or alive. */
  find(id: string): Entry | undefined {
    return this.#claims.find(id);
  }

  /** What a claim that has left would be told; undefined where nothing is known of it. */
  farewell(id: string, now: number): GoneStatus | undefined {
    return this.#remains.farewell(id, now);
  }

  /** The claims in order, dead ones at the back included. */
  get claims(): Iterable<Entry> {
    return this.#claims;
  }

  /** How many claims are in it, dead ones at the back included. */
  get size(): number {
    return this.#claims.size;
  }

  /** The greatest number that was given so far. */
  get last(): bigint {
    return this.#claims.last;
  }

  get unfinished(): WholeState['unfinished'] {
    return this.#claims.unfinished;
  }

  /** True if a new queue that starts after `last` would do in its place. */
  get isBlank(): boolean {
    return this.size === 0 && !this.unfinished && this.#remains.isBlank;
  }

  /** The claims that the steps since the last call concern, and whose status was no reply. */
  takeTold(): readonly Entry[] {
    const { woken } = this.#claims;
    if (woken.length > 0) this.#claims.woken = [];
    return woken;
  }

  /** All of it, for `JSON.stringify` and `ClaimQueue.from`. */
  toJSON(): QueueJson {
    return toJson(this.state);
  }

  /** What it is made of; changes with the next step. */
  get state(): WholeState {
    const { last, greatest, unfinished } = this.#claims;
    const rest = { ...this.#remains.state, closedUntil: this.#closedUntil };
    return { last, greatest, unfinished, claims: this.#claims, ...rest };
  }

  /** A new claim gets a number from `number` on. */
  enter(claim: Claim, now: number, { number, maxWaiters, trusts = false }: Entering): ClaimStatus {
    const claims = this.#claims;
    const buried = this.farewell(claim.id, now);
    if (buried) this.#settle(now);
    if (buried) return buried;
    const own = claims.find(claim.id);
    if (own && own.expiresAt > now) {
      this.#settle(now, { entering: own });
      return this.statusOf(own, now);
    }
    if (own) claims.remove(own);
    const misfit = claims.misfit(claim.kind, now);
    if (misfit) {
      this.#settle(now);
      return mismatch(misfit.kind);
    }
    const { last } = claims;
    claims.last = number > last ? number : last + 1n;
    const entry = entryOf(claim, claims.last, now + this.#claims.lead + claim.ttlMs);
    entry.trusts = trusts;
    claims.push(entry);
    this.#settle(now, { entering: entry });
    if (entry.admitted || (claim.queue && claims.waiting <= maxWaiters)) {
      if (!entry.admitted && claims.waiting === 1) claims.wakeHolders();
      return this.statusOf(entry, now);
    }
    claims.remove(entry);
    // A claim that is refused leaves no trace, and so nothing to be written.
    if (claims.last === entry.number) claims.last = last;
    this.#settle(now);
    if (claim.queue) return full(maxWaiters);
    return { state: 'gone', why: 'refused', ...(!trusts && lossOf(this.#closedUntil - now)) };
  }

  /** Gives the claim its TTL again, unless it is to end. */
  beat(claim: Claim, now: number): ClaimStatus {
    return this.#living(claim, now, (entry) => this.#live(entry, now, claim.ttlMs));
  }

  /** True if it was there. With `afterMs`, a holder ends that much later. */
  leave(claim: Claim, now: number, afterMs = 0): boolean {
    const entry = this.#alive(claim.id, now);
    if (!entry || claim.unanswered) this.#bury(claim, UNKNOWN, now);
    if (!entry) return false;
    if (afterMs <= 0 || !entry.admitted) this.#remove(entry, now);
    else if (!entry.sealed) {
      this.#live(entry, now, afterMs);
      entry.sealed = UNKNOWN;
      this.#claims.wakeNext();
    }
    return true;
  }

  /** Turns a write claim that holds into a read claim, unless it is to end. */
  downgrade(claim: Claim, now: number): ClaimStatus {
    return this.#living(claim, now, (entry) => {
      if (entry.kind !== 'write' || !entry.admitted || entry.sealed) return;
      entry.kind = 'read';
      entry.permits = 1;
      this.#settle(now);
    });
  }

  /** Gives a claim that holds at least this number. */
  raise(claim: Claim, now: number, number: bigint): ClaimStatus {
    return this.#living(claim, now, (entry) => {
      if (entry.admitted) this.#claims.raise(entry, number);
    });
  }

  /** Ends the claim with this number, as the verb of the contract does. */
  evict(number: bigint, now: number, { reason, now: atOnce, waiting }: Eviction): boolean {
    this.#settle(now);
    for (const entry of this.#claims) {
      if (entry.number !== number) continue;
      if (waiting && entry.admitted) return false;
      // One that was released ends by itself, as released.
      if (entry.sealed?.why === 'unknown' && !atOnce) return true;
      const sealed: GoneStatus = { state: 'gone', why: 'evicted', detail: reason };
      entry.sealed = sealed;
      this.#claims.woken.push(entry);
      if (!atOnce && entry.admitted) return true;
      this.#bury(entry, sealed, now);
      this.#remove(entry, now);
      return true;
    }
    return false;
  }

  /** Keeps a record for this long from now, if the claim holds; 0 ms forgets it. */
  keep(claim: Claim, now: number, { text, ms }: RecordTerms): boolean {
    const holds = this.#living(claim, now, () => {}).state === 'held';
    if (holds) this.#remains.keep(ms > 0 ? { text, until: now + ms } : undefined);
    return holds;
  }

  recall(now: number): Kept | undefined {
    return this.#remains.recall(now);
  }

  /** Passes a hold from one id to the other, as the verb of the contract does. */
  handOver(claim: Claim, { from, to }: HandOver, now: number): ClaimStatus {
    const entry = this.#alive(from, now);
    const passed = this.#alive(to, now);
    if (passed) return this.statusOf(passed, now);
    const takes = claim.id === to;
    const late = this.farewell(to, now);
    // After a loss of data, another may have taken it already, and hold.
    const closed = takes && now < this.#closedUntil && !entry?.trusts;
    if (late || !entry || closed) return late ?? this.#missing(from, now);
    const { sealed, admitted } = entry;
    if (!admitted || sealed?.why !== (takes ? 'handed-over' : undefined)) return sealed ?? UNKNOWN;
    const next = this.#claims.pass(entry, { ...claim, id: to }, now);
    if (!takes) next.sealed = HANDED_OVER;
    this.#bury({ ...claim, id: from }, takes ? RESUMED : UNKNOWN, now);
    return this.statusOf(next, now);
  }

  /** Live claims only. */
  describe(resource: string, now: number): Queue {
    this.#settle(now);
    return { resource, ...this.#claims.describe(now), ...lossOf(this.#closedUntil - now) };
  }

  /** Settles, and drops what has ended: tombstones, and the record. */
  tidy(now: number): void {
    this.#settle(now);
    this.#remains.tidy(now);
  }

  /** Forgets how the last hold ended. */
  forgetEnding(): void {
    this.#claims.unfinished = undefined;
  }

  statusOf(entry: Entry, now: number): ClaimStatus {
    return this.#claims.statusOf(entry, now, this.#closedUntil - now);
  }

  /** Applies `act` to the claim if it lives, and returns its status. */
  #living(claim: Claim, now: number, act: (entry: Entry) => void): ClaimStatus {
    const entry = this.#alive(claim.id, now);
    if (!entry) return this.#missing(claim.id, now);
    act(entry);
    return this.statusOf(entry, now);
  }

  /** A waiter that died far back may still be in the queue, but counts as gone. */
  #alive(id: string, now: number): Entry | undefined {
    this.#settle(now);
    const entry = this.#claims.find(id);
    return entry && entry.expiresAt > now ? entry : undefined;
  }

  #live(entry: Entry, now: number, lifeMs: number): void {
    if (entry.sealed) return;
    entry.expiresAt = now + this.#claims.lead + lifeMs;
    entry.lifeMs = lifeMs;
    entry.beat++;
  }

  #missing(id: string, now: number): ClaimStatus {
    const why = now < this.#closedUntil ? 'store-reset' : 'expired';
    return this.farewell(id, now) ?? { state: 'gone', why };
  }

  #remove(entry: Entry, now: number): void {
    this.#claims.remove(entry);
    const ended = { reason: endingOf(entry.sealed), token: entry.number };
    this.#settle(now, entry.admitted ? { ended } : undefined);
  }

  #bury({ id, ttlMs }: Pick<Claim, 'id' | 'ttlMs'>, status: GoneStatus, now: number): void {
    this.#remains.bury(id, { status, until: now + this.#claims.lead + ttlMs }, now);
  }

  #settle(now: number, settling?: Settling): void {
    this.#claims.settle(now, now >= this.#closedUntil, settling);
  }
}
