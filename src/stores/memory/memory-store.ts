/**
 * Locks inside one process; also the reference that other stores are compared with.
 *
 * Invariant: a queue holds claims in order of arrival, the admitted ones in front, and every step
 * ends by settling it: dead claims are out of the way and all claims that fit are admitted. Each
 * step runs to its end without yielding, so no two interleave. The store looks for a dead holder
 * only when a step touches its queue, so that the next claim learns how the hold before it ended.
 * Tokens count arrivals, and admission goes in that order, so they grow from holder to holder.
 * What would break it: a step that awaits in the middle.
 */
import type { Clock } from '../../base/clock.ts';
import type { Kept } from '../../contract/records.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits, Wake } from '../../contract/store.ts';
import { ClaimQueue, type Entry, type Settling, UNKNOWN } from './claim-queue.ts';
import { newLineage } from './lineage.ts';
import { Records } from './records.ts';
import { Tombstones } from './tombstones.ts';
import { TRAITS } from './traits.ts';
import { Unfinished } from './unfinished.ts';

export interface MemoryParts {
  readonly clock: Clock;
  readonly maxWaiters: number;
  readonly quarantineMs: number;
}

export class Memory implements Store {
  readonly name = 'memory';
  readonly traits: Traits = TRAITS;
  lineage: string = newLineage();
  readonly #clock: Clock;
  readonly #maxWaiters: number;
  readonly #quarantineMs: number;
  readonly #queues = new Map<string, ClaimQueue>();
  readonly #unfinished = new Unfinished();
  readonly #tombstones: Tombstones;
  readonly #records: Records;
  readonly #wakes = new Map<string, Wake>();
  #last = 0n;
  #quarantinedUntil = Number.NEGATIVE_INFINITY;

  constructor({ clock, maxWaiters, quarantineMs }: MemoryParts) {
    this.#clock = clock;
    this.#tombstones = new Tombstones(clock);
    this.#records = new Records(clock);
    this.#maxWaiters = maxWaiters;
    this.#quarantineMs = quarantineMs;
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return claims.map((claim) => this.#enter(claim));
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return claims.map((claim) => this.#beat(claim));
  }

  async release(
    claims: readonly Claim[],
    after?: { readonly ms: number },
  ): Promise<readonly boolean[]> {
    return claims.map((claim) => this.#leave(claim, after?.ms ?? 0));
  }

  async inspect(resource: string): Promise<Queue> {
    const queue = this.#settled(resource);
    return queue?.describe(this.#clock.now()) ?? { resource, holders: [], waiters: [] };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    this.#wakes.set(claim.id, wake);
    return { [Symbol.asyncDispose]: async () => void this.#wakes.delete(claim.id) };
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    return this.#living(claim, (queue, entry) => {
      if (entry.kind !== 'write' || !entry.admitted) return;
      entry.kind = 'read';
      entry.permits = 1;
      this.#settle(queue);
    });
  }

  async raise(
    claims: readonly Claim[],
    numbers: readonly bigint[],
  ): Promise<readonly ClaimStatus[]> {
    return claims.map((claim, i) =>
      this.#living(claim, (queue, entry) => {
        const number = numbers[i] ?? 0n;
        if (!entry.admitted) return;
        queue.raise(entry, number);
        if (number > this.#last) this.#last = number;
      }),
    );
  }

  async evict(
    resource: string,
    number: bigint,
    { reason, now }: { readonly reason: string; readonly now: boolean },
  ): Promise<boolean> {
    const queue = this.#settled(resource);
    const entry = queue?.numbered(number);
    if (!queue || !entry) return false;
    entry.sealed = { state: 'gone', why: 'evicted', detail: reason };
    const wake = this.#wakes.get(entry.id);
    if (wake) queueMicrotask(() => wake());
    if (now || !entry.admitted) {
      this.#tombstones.bury(entry, entry.sealed);
      this.#remove(queue, entry);
    }
    return true;
  }

  async keep(
    claim: Claim,
    record: { readonly text: string; readonly ms: number },
  ): Promise<boolean> {
    const held = this.#living(claim, () => {}).state === 'held';
    if (held) this.#records.keep(claim.resource, record);
    return held;
  }

  async recall(resource: string): Promise<Kept | undefined> {
    return this.#records.recall(resource);
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    for (const resource of [...this.#queues.keys()]) {
      if (resource.startsWith(prefix) && this.#settled(resource)) yield resource;
    }
  }

  forget(): void {
    this.#queues.clear();
    this.#unfinished.clear();
    this.#tombstones.clear();
    this.#records.clear();
    this.lineage = newLineage();
    this.#last = 0n;
    this.#quarantinedUntil = this.#clock.now() + this.#quarantineMs;
  }

  #enter(claim: Claim): ClaimStatus {
    const now = this.#clock.now();
    const buried = this.#tombstones.find(claim.id);
    if (buried) return buried;
    const queue = this.#queues.get(claim.resource) ?? this.#open(claim.resource);
    const own = queue.find(claim.id);
    if (own && own.expiresAt > now) {
      this.#settle(queue, { entering: own });
      return this.#statusOf(queue, own);
    }
    if (own) queue.remove(own);
    const misfit = queue.misfit(claim.kind, now);
    if (misfit) {
      this.#settle(queue);
      return { state: 'gone', why: 'mismatch', detail: `its queue holds ${misfit.kind} claims` };
    }
    const { id, kind, permits, limit, ttlMs, holder } = claim;
    const entry: Entry = {
      id,
      kind,
      permits,
      limit,
      ttlMs,
      holder,
      number: ++this.#last,
      admitted: false,
      first: false,
      expiresAt: now + ttlMs,
      sealed: undefined,
      takeover: undefined,
      previous: undefined,
      next: undefined,
    };
    queue.push(entry);
    this.#settle(queue, { entering: entry });
    return entry.admitted ? this.#statusOf(queue, entry) : this.#stay(claim, queue, entry);
  }

  /** Refuses a new claim that must wait but does not want to, or finds no room. */
  #stay(claim: Claim, queue: ClaimQueue, entry: Entry): ClaimStatus {
    if (claim.queue && queue.waiting <= this.#maxWaiters) {
      if (queue.waiting === 1) queue.tellHolders();
      return this.#statusOf(queue, entry);
    }
    queue.remove(entry);
    this.#settle(queue);
    if (!claim.queue) return { state: 'gone', why: 'refused' };
    return { state: 'gone', why: 'full', detail: `maxWaiters is ${this.#maxWaiters}` };
  }

  #beat(claim: Claim): ClaimStatus {
    const queue = this.#settled(claim.resource);
    const entry = this.#live(queue, claim.id);
    if (!queue || !entry) return this.#missing(claim.id);
    if (!entry.sealed) entry.expiresAt = this.#clock.now() + claim.ttlMs;
    return this.#statusOf(queue, entry);
  }

  /** Applies `act` to the claim if it lives, and returns its status. */
  #living(claim: Claim, act: (queue: ClaimQueue, entry: Entry) => void): ClaimStatus {
    const queue = this.#settled(claim.resource);
    const entry = this.#live(queue, claim.id);
    if (!queue || !entry) return this.#missing(claim.id);
    act(queue, entry);
    return this.#statusOf(queue, entry);
  }

  #leave(claim: Claim, afterMs: number): boolean {
    const queue = this.#settled(claim.resource);
    const entry = this.#live(queue, claim.id);
    if (!entry || claim.unanswered) this.#tombstones.bury(claim, UNKNOWN);
    if (!queue || !entry) return false;
    if (afterMs <= 0 || !entry.admitted) this.#remove(queue, entry);
    else if (!entry.sealed) {
      entry.sealed = UNKNOWN;
      entry.expiresAt = this.#clock.now() + afterMs;
    }
    return true;
  }

  #remove(queue: ClaimQueue, entry: Entry): void {
    queue.remove(entry);
    const reason = entry.sealed?.why === 'evicted' ? 'evicted' : 'released';
    const ended: Settling['ended'] = { reason, token: entry.number };
    this.#settle(queue, entry.admitted ? { ended } : {});
  }

  /** A waiter that died far back may still be in the queue, but counts as gone. */
  #live(queue: ClaimQueue | undefined, id: string): Entry | undefined {
    const entry = queue?.find(id);
    return entry && entry.expiresAt > this.#clock.now() ? entry : undefined;
  }

  #missing(id: string): ClaimStatus {
    const lost = this.#clock.now() < this.#quarantinedUntil ? 'store-reset' : 'expired';
    return this.#tombstones.find(id) ?? { state: 'gone', why: lost };
  }

  #open(resource: string): ClaimQueue {
    const tell = (entry: Entry): void => {
      const wake = this.#wakes.get(entry.id);
      if (wake) queueMicrotask(() => wake(this.#statusOf(queue, entry)));
    };
    const queue = new ClaimQueue(resource, { tell, nextNumber: () => ++this.#last });
    this.#queues.set(resource, queue);
    return queue;
  }

  #settled(resource: string): ClaimQueue | undefined {
    const queue = this.#queues.get(resource);
    if (queue) this.#settle(queue);
    return queue?.size ? queue : undefined;
  }

  #settle(queue: ClaimQueue, { ended, entering }: Settling = {}): void {
    const now = this.#clock.now();
    const open = now >= this.#quarantinedUntil;
    queue.settle(now, { open, ended, ...(entering && { entering }) });
    if (queue.size > 0) return;
    if (queue.unfinished) return this.#unfinished.add(queue, (oldest) => this.#settle(oldest));
    this.#unfinished.delete(queue);
    this.#queues.delete(queue.resource);
  }

  #statusOf(queue: ClaimQueue, entry: Entry): ClaimStatus {
    const now = this.#clock.now();
    return queue.statusOf(entry, now, this.#quarantinedUntil - now);
  }
}
